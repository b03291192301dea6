"""Studies: why the numbers are what they are. Each is a component with `run`, and has a YAML in conf/study."""

"""Settings of the whole suite."""

from hypothesis import settings

# the same examples in every run: a property that fails for a rare example is looked for by hand, with another profile
settings.register_profile("suite", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None, max_examples=1000)
settings.load_profile("suite")

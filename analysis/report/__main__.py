"""The command of the report; what it reads from stores is gathered by `experiments.report`."""

from experiments.arguments import run_program
from experiments.report import main

if __name__ == "__main__":
    run_program(main)

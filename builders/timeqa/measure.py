"""The measure of the alignment, `bench.alignment`, from a checkout: give it FILE."""

import sys
from importlib import import_module

if __name__ == "__main__":
    try:
        measure = import_module("bench.alignment")
    except ModuleNotFoundError:
        sys.exit("bench is not installed: run the measure in the folder of a checkout")
    sys.exit(measure.main(sys.argv[1:]))

"""The datasets and all that they are made with: a folder a stage, a folder a dataset."""

if __name__ != "factdrift.builders":
    raise ImportError(f"{__name__} is a part of factdrift: import factdrift.builders")

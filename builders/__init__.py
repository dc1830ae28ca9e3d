"""The datasets and all that they are made with: a folder a stage, a folder a dataset."""

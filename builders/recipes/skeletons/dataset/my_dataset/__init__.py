"""The dataset my-dataset, built with factdrift."""

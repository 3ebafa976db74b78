"""Measuring: metrics, the forced-prediction protocol, algorithms side by side."""

"""Models that are fitted by expectation-maximisation: the paper's mixture and those it is compared with."""

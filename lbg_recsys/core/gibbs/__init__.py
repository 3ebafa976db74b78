"""Bayesian LBG: a Gibbs sampler of additive classes, and everything that is computed from its kept sweeps."""

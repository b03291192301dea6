"""Launchers of sweeps beyond those that come as Hydra plugins."""

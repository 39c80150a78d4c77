"""Model phone and chat conversations as statecharts: a model talks freely, a machine decides."""

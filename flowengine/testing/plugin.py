"""pytest collects `*.scenario.yaml`: one test for each scenario."""

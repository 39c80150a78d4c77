"""`python -m flowengine`: the command line, where its script is not on the path."""

from flowengine.cli import main

if __name__ == "__main__":
    main()

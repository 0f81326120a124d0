"""`python -m castwise` is the command line."""

from castwise.cli.main import main

if __name__ == "__main__":  # the second process of `resolve` imports this file too
    main()

"""The order of the tests of benchmarks."""

NEEDS_ALL = "test_the_documents_can_be_written_from_quick_results"


def pytest_collection_modifyitems(items):
    """What needs all parts comes last: a row that another test measured is kept for it."""
    items.sort(key=lambda item: item.name == NEEDS_ALL)

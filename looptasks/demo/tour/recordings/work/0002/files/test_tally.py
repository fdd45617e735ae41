import unittest

from tally import tally


class Tally(unittest.TestCase):
    def test_the_most_frequent_word_comes_first(self):
        self.assertEqual(tally("b a b"), [("b", 2), ("a", 1)])

    def test_equal_ones_are_sorted(self):
        self.assertEqual(tally("b a"), [("a", 1), ("b", 1)])


if __name__ == "__main__":
    unittest.main()

import unittest

from words import words


class Words(unittest.TestCase):
    def test_punctuation_and_case_do_not_count(self):
        self.assertEqual(words("Hello, hello World!"), ["hello", "hello", "world"])

    def test_an_empty_text_has_no_words(self):
        self.assertEqual(words(""), [])


if __name__ == "__main__":
    unittest.main()

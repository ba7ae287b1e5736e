"""Every file that cannot be read is refused in one line that names file, row and rule."""

import pytest
from bad_files import BAD_FILES

import bayesaudit as ba
from bayesaudit.reading import read_file


@pytest.mark.parametrize("case", BAD_FILES, ids=[case.id for case in BAD_FILES])
def test_one_line_names_file_row_and_rule(tmp_path, case):
    path = tmp_path / case.name
    path.write_bytes(case.data)
    for read in (ba.read_attack, read_file):
        with pytest.raises(ba.DataError) as caught:
            read(path, **case.options)
        message = str(caught.value)
        assert message.startswith(f"{path}: ") and "\n" not in message
        assert message.count(str(path)) == 1 and message.endswith(".")
        assert case.message in message
        if case.message.startswith("row"):
            assert message.startswith(f"{path}: {case.message}")
    assert path.read_bytes() == case.data


def test_the_systems_errors_stay_what_they_are(tmp_path):
    with pytest.raises(FileNotFoundError):
        ba.read_attack(tmp_path / "missing.csv")
    with pytest.raises(IsADirectoryError):
        ba.read_attack(tmp_path)

"""ONE reader of files of attack outputs: CSV and its kin, Parquet, NPZ and JSON.

`read_attack` gives the counts or scores, `read_file` also what is known of the file, `read_trials`
the rows for audits of one run. All formats
are columns first (`_text`, `_arrays`), whose names have one table of aliases (`ALIASES`) and whose
cells have one set of rules (`_cells`).
"""

from bayesaudit.reading._attack import Attack, Trials, read_attack, read_file, read_trials
from bayesaudit.reading._columns import ALIASES

__all__ = ["ALIASES", "Attack", "Trials", "read_attack", "read_file", "read_trials"]

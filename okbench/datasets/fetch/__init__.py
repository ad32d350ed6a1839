"""From the name of a dataset to verified files in the data folder; use `fetching`.

    fetching    the files of the datasets in groups, several groups at once; a result for each file
    one_file    one file: from the first place that has the right bytes
    obtain      the bytes from one place under a temporary name: copied, downloaded, or out of an
                archive
    download    one address to one file on the disk, continued after an interruption
    answer      one answer of a server, waited for so long and no longer
    file_check  whether the bytes are the right ones

Beside this flow, `places` says where a file may come from, `bundle` writes offline bundles, and
`progress` passes reports to the caller and the caller's wish to stop to every thread.
"""

__all__ = ["fetching"]

"""The isolation kernel of Ting et al. and what it is compared with: maps and learners on them.

`maps` has the maps of the role `Map`, made of `forest` (isolation trees) and `nearest` (Voronoi
cells), `shared_maps` those of several learners; `references` draws the rows they are made of, and
`map_file` writes and reads them.
`descent` and `dual` learn on the cells of rows, `laplacian` and `laplacian_nogd` with the Laplacian
kernel: `laplacian_kernel` has it, `laplacian_model` what is learned, and `shared_supports` several
such models that are learned together. `svm` trains LIBLINEAR on a map, and `kernel_svm` LIBSVM with
the kernels themselves; `mapped` is what the two have in common on an isolation map.
Import the modules by name; the package itself imports nothing.
"""

__all__ = [
    "array_libraries",
    "base",
    "descent",
    "dual",
    "forest",
    "kernel_svm",
    "laplacian",
    "laplacian_kernel",
    "laplacian_model",
    "laplacian_nogd",
    "map_file",
    "mapped",
    "maps",
    "nearest",
    "references",
    "shared_maps",
    "shared_supports",
    "svm",
]

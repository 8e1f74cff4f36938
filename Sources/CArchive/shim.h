#include <archive.h>
#include <archive_entry.h>
/* gzip is read by zlib itself: libarchive 3.6 leaves gzip's checksum and length unlooked at. */
#include <zlib.h>
/* xz by liblzma itself: libarchive sets no limit to the memory that a file asks for. */
#include <lzma.h>
/* The pages of Parquet files are frames of zstd, each in memory: libarchive would make a stream of each. */
#include <zstd.h>

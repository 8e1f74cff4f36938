# Writes Parquet files into a folder in all the ways that pyarrow has, and beside each what its rows are, as NDJSON. Prints
# the files' names.
import datetime as dt
import decimal
import json
import random
import re
import sys

import pyarrow as pa
import pyarrow.parquet as pq

folder = sys.argv[1]
random.seed(7)
D = decimal.Decimal
words = ["", "a", "Zoë", "line\nbreak", 'q"uote', "日本語", "x" * 300]
ROWS = 300


def maybe(value):
    return None if random.random() < 0.2 else value


def column(make, kind):
    return pa.array([maybe(make(i)) for i in range(ROWS)], kind)


def instants(step):
    return lambda i: (i - 100) * 86_399_001 * step + i * step


columns = {
    "i8": column(lambda i: i % 256 - 128, pa.int8()),
    "u16": column(lambda i: i * 211 % 65536, pa.uint16()),
    "i32": column(lambda i: random.choice([-(2**31), 2**31 - 1, i]), pa.int32()),
    "i64": column(lambda i: random.choice([-(2**52), 2**52, i * 1_000_003]), pa.int64()),
    "run": pa.array([i // 90 for i in range(ROWS)], pa.int64()),
    "f32": column(lambda i: random.choice([0.5, -1.25, i / 8]), pa.float32()),
    "f64": column(lambda i: random.choice([0.1, -1.5e300, i / 7]), pa.float64()),
    "flag": column(lambda i: i % 3 == 0, pa.bool_()),
    "word": column(lambda i: random.choice(words), pa.string()),
    "text": column(lambda i: f"{random.choice(words)}{i}", pa.string()),
    "fixed": column(lambda i: bytes([i % 256] * 5), pa.binary(5)),
    "day": column(lambda i: dt.date(1900, 1, 1) + dt.timedelta(days=i * 37), pa.date32()),
    "ms": column(instants(1), pa.timestamp("ms")),
    "us": column(instants(1000), pa.timestamp("us", "UTC")),
    "d9": column(lambda i: D(i * 7919 - 100_000).scaleb(-2), pa.decimal128(9, 2)),
    "d30": column(lambda i: D(i - 100) * 10**15 + D("0.00001"), pa.decimal128(30, 5)),
    "list": column(lambda i: [maybe(j) for j in range(i % 4)], pa.list_(pa.int32())),
    "grid": column(lambda i: [maybe([f"{j}"] * j) for j in range(i % 3)], pa.list_(pa.list_(pa.string()))),
    "place": column(lambda i: {"city": maybe("c"), "n": i}, pa.struct([("city", pa.string()), ("n", pa.int64())])),
    "items": column(
        lambda i: [{"s": maybe("x"), "l": maybe([1] * (j % 3))} for j in range(i % 3)],
        pa.list_(pa.struct([("s", pa.string()), ("l", pa.list_(pa.int8()))])),
    ),
    "names": column(lambda i: [(f"k{j}", maybe(j)) for j in range(i % 3)], pa.map_(pa.string(), pa.int32())),
}
table = pa.Table.from_arrays(
    list(columns.values()), schema=pa.schema([pa.field(n, c.type, nullable=n != "run") for n, c in columns.items()])
)


def instant(value, unit):
    per = {"ms": 1000, "us": 1_000_000}[unit]
    seconds, rest = divmod(value, per)
    moment = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=seconds)
    fraction = "." + str(rest).zfill(len(str(per)) - 1).rstrip("0") if rest else ""
    return moment.isoformat() + fraction


def plain(value, kind):
    if value is None:
        return None
    if pa.types.is_list(kind):
        return [plain(v, kind.value_type) for v in value]
    if pa.types.is_struct(kind):
        return {f.name: plain(value[f.name], f.type) for f in kind}
    if pa.types.is_map(kind):
        return {k: plain(v, kind.item_type) for k, v in value}
    if pa.types.is_fixed_size_binary(kind):
        import base64

        return base64.b64encode(value).decode()
    if pa.types.is_timestamp(kind):
        return instant(value, kind.unit) + ("Z" if kind.tz else "")
    if pa.types.is_date(kind):
        return value.isoformat()
    if pa.types.is_decimal(kind):
        # Unquoted below, with all its digits.
        return f"@D{value:f}@"
    return value


def rows(table):
    made = []
    for field in table.schema:
        values = table.column(field.name)
        if pa.types.is_timestamp(field.type):
            values = values.cast(pa.int64())
        made.append([plain(v, field.type) for v in values.to_pylist()])
    return [dict(zip(table.column_names, row)) for row in zip(*made)]


count = 0


def write(table, **options):
    global count
    count += 1
    name = f"{count}.parquet"
    pq.write_table(table, f"{folder}/{name}", store_schema=False, **options)
    with open(f"{folder}/{name}.json", "w") as file:
        for row in rows(table):
            file.write(re.sub(r'"@D(.*?)@"', r"\1", json.dumps(row)) + "\n")
    print(name)


for compression in ["none", "snappy", "gzip", "zstd", "lz4"]:
    for version in ["1.0", "2.0"]:
        for dictionary in [True, False]:
            for size in [150, 1 << 20]:
                write(
                    table, compression=compression, data_page_version=version, use_dictionary=dictionary,
                    data_page_size=size, write_batch_size=20, row_group_size=130, write_page_checksum=size == 150,
                )
for names in [
    {"i8": "DELTA_BINARY_PACKED", "i64": "DELTA_BINARY_PACKED", "run": "DELTA_BINARY_PACKED", "us": "DELTA_BINARY_PACKED",
     "text": "DELTA_LENGTH_BYTE_ARRAY", "word": "DELTA_BYTE_ARRAY", "fixed": "DELTA_BYTE_ARRAY", "flag": "RLE"},
    {"i32": "BYTE_STREAM_SPLIT", "f32": "BYTE_STREAM_SPLIT", "f64": "BYTE_STREAM_SPLIT", "fixed": "BYTE_STREAM_SPLIT",
     "text": "DELTA_BYTE_ARRAY", "day": "DELTA_BINARY_PACKED"},
]:
    for version in ["1.0", "2.0"]:
        write(table, column_encoding=names, use_dictionary=False, data_page_version=version, data_page_size=500)
write(table.select(["list", "grid", "items"]), use_compliant_nested_type=False)
write(table.select(["d9", "d30"]), store_decimal_as_integer=True)
write(table.slice(0, 0))

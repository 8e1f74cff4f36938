# Writes the Parquet files beside it, by pyarrow: what tests of the reader read.
import datetime as dt
import decimal
import pathlib
import uuid

import pyarrow as pa
import pyarrow.parquet as pq

here = pathlib.Path(__file__).parent
D = decimal.Decimal
utc = dt.timezone.utc


def write(name, table, **options):
    pq.write_table(table, here / name, store_schema=False, **options)


# One column of each type: edges, and a null.
types = pa.table(
    [
        pa.array([-128, 127, None], pa.int8()),
        pa.array([255, 0, None], pa.uint8()),
        pa.array([-32768, 32767, None], pa.int16()),
        pa.array([-(2**31), 2**31 - 1, None], pa.int32()),
        pa.array([2**32 - 1, 0, None], pa.uint32()),
        pa.array([-(2**63), 2**63 - 1, None], pa.int64()),
        pa.array([2**64 - 1, 0, None], pa.uint64()),
        pa.array([0.5, -65504.0, None], pa.float16()),
        pa.array([0.1, float("inf"), None], pa.float32()),
        pa.array([0.1, 5e-324, float("nan")], pa.float64()),
        pa.array([True, False, None]),
        pa.array(["é, \"q\"", "", None]),
        pa.array([b"\x00\xff", b"", None]),
        pa.array([b"abcde", b"12345", None], pa.binary(5)),
        pa.array([dt.date(2024, 2, 29), dt.date(1, 1, 1), None]),
        pa.array([dt.time(12, 30), dt.time(23, 59, 59, 999000), None], pa.time32("ms")),
        pa.array([dt.time(12, 30, 0, 1), dt.time(0), None], pa.time64("us")),
        pa.array([dt.datetime(2024, 1, 31, 12, 30), dt.datetime(1969, 12, 31, 23, 59, 59, 999000), None], pa.timestamp("ms")),
        pa.array([dt.datetime(2024, 1, 31, 12, 30, 0, 1, utc), dt.datetime(1, 1, 1, tzinfo=utc), None], pa.timestamp("us", "UTC")),
        pa.array([1706704200000000001, -1, None], pa.timestamp("ns")),
        pa.array([D("-0.01"), D("1234567.89"), None], pa.decimal128(9, 2)),
        pa.array([D("0.00001"), D("-9999999999999.99999"), None], pa.decimal128(18, 5)),
        pa.array([D("12345678901234567890123456789012345678"), D("-1"), None], pa.decimal128(38, 0)),
        pa.array([D("1" * 50 + "." + "2" * 20), D("-0.00000000000000000001"), None], pa.decimal256(76, 20)),
        pa.array([uuid.UUID("12345678-1234-5678-1234-567812345678").bytes, None, None], pa.uuid()),
        pa.nulls(3),
    ],
    "i8 u8 i16 i32 u32 i64 u64 f16 f32 f64 flag text bin fixed day ms us local instant ns d9 d18 d38 d76 uuid none".split(),
)
write("types.parquet", types)

# What nests, over several pages and row groups.
rows = [
    {
        "id": i,
        "kind": "k",
        "list": None if i % 7 == 0 else [None if j == 1 else j for j in range(i % 4)],
        "grid": [[f"{i}.{j}.{k}" for k in range(j)] for j in range(i % 3)],
        "place": None if i % 5 == 0 else {"city": f"c{i}", "at": None if i % 2 else {"lat": i / 2, "lon": None}},
        "items": [{"sku": f"s{j}", "tags": ["x"] * (j % 2), "n": None if j % 2 else j} for j in range(i % 4)],
        "names": [(f"k{j}", j) for j in range(i % 3)],
    }
    for i in range(100)
]
nested = pa.Table.from_pylist(
    rows,
    pa.schema(
        [
            pa.field("id", pa.int64(), nullable=False),
            pa.field("kind", pa.string(), nullable=False),
            ("list", pa.list_(pa.int32())),
            ("grid", pa.list_(pa.list_(pa.string()))),
            ("place", pa.struct([("city", pa.string()), ("at", pa.struct([("lat", pa.float64()), ("lon", pa.float64())]))])),
            ("items", pa.list_(pa.struct([("sku", pa.string()), ("tags", pa.list_(pa.string())), ("n", pa.int8())]))),
            ("names", pa.map_(pa.string(), pa.int32())),
        ]
    ),
)
write(
    "nested.parquet", nested, row_group_size=40, data_page_size=60, write_batch_size=3, compression="zstd",
    data_page_version="2.0", write_page_checksum=True,
)

# What staff consists of, in three row groups of several pages.
staff = pa.table(
    {
        "code": [f"p{i}" for i in range(25)],
        "name": [f"Person {i}" if i != 11 else None for i in range(25)],
        "age": pa.array([20 + i if i != 17 else 1000 for i in range(25)], pa.int32()),
        "birthday": [dt.date(1980, 1, 1) + dt.timedelta(days=i) for i in range(25)],
        "grade": pa.array([i % 5 for i in range(25)], pa.int8()),
    }
)
write("staff.parquet", staff, row_group_size=10, data_page_size=30, write_batch_size=2, compression="gzip")

# What nested objects of JSON are, too.
products = pa.Table.from_pylist(
    [
        {
            "sku": "a",
            "maker": {"name": "Acme", "since": 1901, "seat": {"street": "Main \"1\"", "postcode": "123"}},
            "tags": [{"word": "red", "rank": 1}, {"word": "new", "rank": None}],
            "chapters": [{"code": "2", "heading": None}, {"code": "1", "heading": "One"}],
        },
        {"sku": "b", "maker": {"name": "Bolt", "since": None, "seat": None}, "tags": [{"word": "red", "rank": 1}], "chapters": None},
        {"sku": "c", "maker": {"name": "Bolt", "since": None, "seat": None}, "tags": [{"word": "blue", "rank": None}], "chapters": []},
    ]
)
write("products.parquet", products, row_group_size=2)

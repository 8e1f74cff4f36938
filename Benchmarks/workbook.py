"""People in an Excel workbook, for `bench import --only excel`.

    workbook.py write people.csv people.xlsx      makes the workbook, as Excel would write it: texts are shared
    workbook.py load people.xlsx people.sqlite    reads it with openpyxl in read-only mode, into a table that is there
"""

import csv
import datetime
import sqlite3
import sys


def write(source, target):
    import xlsxwriter

    # In memory, so that texts are shared: a workbook written row by row has them in its cells.
    book = xlsxwriter.Workbook(target, {"default_date_format": "yyyy-mm-dd hh:mm:ss"})
    sheet = book.add_worksheet("People")
    with open(source, newline="", encoding="utf-8") as file:
        rows = csv.reader(file)
        sheet.write_row(0, 0, next(rows))
        for number, (key, name, email, age, balance, created, note) in enumerate(rows, 1):
            sheet.write_number(number, 0, int(key))
            sheet.write_string(number, 1, name)
            sheet.write_string(number, 2, email)
            sheet.write_number(number, 3, int(age))
            sheet.write_number(number, 4, float(balance))
            moment = datetime.datetime.fromisoformat(created.replace("Z", "+00:00"))
            sheet.write_datetime(number, 5, moment.replace(tzinfo=None))
            sheet.write_string(number, 6, note)
    book.close()


def load(source, target):
    import openpyxl

    sheet = openpyxl.load_workbook(source, read_only=True).active
    rows = sheet.iter_rows(min_row=2, values_only=True)
    with sqlite3.connect(target) as database:
        database.executemany("INSERT INTO Person VALUES (?, ?, ?, ?, ?, datetime(?), ?)", map(plain, rows))


def plain(row):
    """SQLite's module has no type for dates any more."""
    return (*row[:5], row[5].isoformat(sep=" "), row[6])


{"write": write, "load": load}[sys.argv[1]](*sys.argv[2:])

import Foundation
import GRDB
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

struct ValueCodecTests {
  @Test(
    "a decimal has one stored form: integer, real of fifteen digits, or digits",
    arguments: [
      ("0", ValueCodec.DecimalStorage.integer(0)), ("10.10", .real(10.1)), ("10.00", .integer(10)),
      ("-0.5", .real(-0.5)),
      ("9223372036854775807", .integer(.max)), ("9223372036854775808", .digits("9223372036854775808")),
      ("100000000000000000000", .real(1e20)), ("0.123456789012345", .real(0.123456789012345)),
      ("0.1234567890123456", .digits("0.1234567890123456")), ("-123456789012345.5", .digits("-123456789012345.5")),
      ("0.00000000000000000000001", .real(1e-23)),
    ])
  func decimals(_ text: String, _ storage: ValueCodec.DecimalStorage) {
    #expect(ValueCodec.storage(of: PredicateFixture.decimal(text)) == storage)
  }

  @Test("a decimal that was reckoned is stored as one that was read")
  func reckoned() {
    let sum = PredicateFixture.decimal("0.50") + PredicateFixture.decimal("0.60")
    #expect(ValueCodec.storage(of: sum) == .real(1.1))
    #expect(ValueCodec.storage(of: sum * 10) == .integer(11))
  }

  @Test("decimals in their stored forms sort by value")
  func decimalKeys() throws {
    let texts = [
      "-100000000000000000000", "-9223372036854775809", "-7.25", "-7.1234567890123456789", "-7", "-0.001",
      "-0.00099999999999999999999", "0", "0.00000000000000000001", "0.5", "1", "1.00000000000000000001", "9.99", "10",
      "123456789012345678901234567890.12345678",
    ]
    let queue = try DatabaseQueue()
    let keys = try queue.read { db in
      PredicateFunctions.register(on: db)
      return try texts.map { text -> Data? in
        let argument: DatabaseValue =
          switch ValueCodec.storage(of: PredicateFixture.decimal(text)) {
          case .integer(let whole): whole.databaseValue
          case .real(let double): double.databaseValue
          case .digits(let digits): Data(digits.utf8).databaseValue
          }
        return try Data.fetchOne(db, sql: "SELECT lade_decimal_key(?)", arguments: [argument])
      }
    }
    for (a, b) in zip(keys, keys.dropFirst()) {
      #expect(try #require(a).lexicographicallyPrecedes(#require(b)))
    }
  }

  @Test("digits of another program may say a number beyond all others")
  func farExponents() throws {
    let queue = try DatabaseQueue()
    let keys = try queue.read { db in
      PredicateFunctions.register(on: db)
      return try ["-1e9223372036854775807", "1e-9223372036854775808", "1", "1e9223372036854775807"].map { text in
        try Data.fetchOne(db, sql: "SELECT lade_decimal_key(?)", arguments: [text])
      }
    }
    for (a, b) in zip(keys, keys.dropFirst()) {
      #expect(try #require(a).lexicographicallyPrecedes(#require(b)))
    }
  }

  @Test("dates are stored to the microsecond, as text or as seconds")
  func dates() {
    let date = Date(timeIntervalSince1970: 1_717_165_800.25)
    #expect(ValueCodec.databaseValue(of: date, .iso) == "2024-05-31 14:30:00.25".databaseValue)
    #expect(ValueCodec.databaseValue(of: date, .unix) == 1_717_165_800.25.databaseValue)
    let whole = Date(timeIntervalSince1970: 1_717_165_800.000_000_1)
    #expect(ValueCodec.databaseValue(of: whole, .unix) == Int64(1_717_165_800).databaseValue)
  }
}

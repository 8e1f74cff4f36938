import Foundation
import GRDB
import ManagedObjects

/// The aggregates of decimals, which SQLite's own would round to doubles or, for those of many digits, not understand.
/// All of them take every stored form, and give one that a decimal is stored as.
enum DecimalAggregate {
  /// Adds `lade_decimal_sum`, `lade_decimal_average`, `lade_decimal_least` and `lade_decimal_greatest` to a connection.
  static func register(on db: Database) {
    db.add(function: DatabaseFunction("lade_decimal_sum", argumentCount: 1, aggregate: Sum.self))
    db.add(function: DatabaseFunction("lade_decimal_average", argumentCount: 1, aggregate: Average.self))
    db.add(function: DatabaseFunction("lade_decimal_least", argumentCount: 1, aggregate: Least.self))
    db.add(function: DatabaseFunction("lade_decimal_greatest", argumentCount: 1, aggregate: Greatest.self))
  }

  private struct Sum: DatabaseAggregate {
    var accumulator = Accumulator(.sum, of: .decimal)
    mutating func step(_ values: [DatabaseValue]) throws { try accumulator.add(values) }
    func finalize() throws -> (any DatabaseValueConvertible)? { try accumulator.stored() }
  }

  private struct Average: DatabaseAggregate {
    var accumulator = Accumulator(.average, of: .decimal)
    mutating func step(_ values: [DatabaseValue]) throws { try accumulator.add(values) }
    func finalize() throws -> (any DatabaseValueConvertible)? { try accumulator.stored() }
  }

  private struct Least: DatabaseAggregate {
    var accumulator = Accumulator(.minimum, of: .decimal)
    mutating func step(_ values: [DatabaseValue]) throws { try accumulator.add(values) }
    func finalize() throws -> (any DatabaseValueConvertible)? { try accumulator.stored() }
  }

  private struct Greatest: DatabaseAggregate {
    var accumulator = Accumulator(.maximum, of: .decimal)
    mutating func step(_ values: [DatabaseValue]) throws { try accumulator.add(values) }
    func finalize() throws -> (any DatabaseValueConvertible)? { try accumulator.stored() }
  }
}

extension Accumulator {
  fileprivate mutating func add(_ values: [DatabaseValue]) throws {
    for value in values {
      switch value.storage {
      case .int64(let whole): try add(.decimal(Decimal(whole)))
      case .double(let double): try add(Decimal(string: double.description).map(Value.decimal) ?? .null)
      case .blob(let digits):
        try add(Decimal(string: String(decoding: digits, as: UTF8.self)).map(Value.decimal) ?? .null)
      case .string, .null: break
      }
    }
  }

  fileprivate func stored() throws -> DatabaseValue { ValueCodec.databaseValue(of: try result()) }
}

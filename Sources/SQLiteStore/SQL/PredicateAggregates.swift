import Foundation
import GRDB
import ManagedObjects

/// Aggregates whose results don't depend on the order of rows: `lade_sum`, `lade_avg`, and `lade_sum_decimal`,
/// `lade_avg_decimal`, `lade_min_decimal`, `lade_max_decimal`. They ignore NULL; the sum of no values is 0, the others are NULL.
enum PredicateAggregates {
  static let all: [DatabaseFunction] = [
    DatabaseFunction("lade_sum", argumentCount: 1, pure: true, aggregate: Sum.self),
    DatabaseFunction("lade_avg", argumentCount: 1, pure: true, aggregate: Average.self),
    DatabaseFunction("lade_sum_decimal", argumentCount: 1, pure: true, aggregate: DecimalSum.self),
    DatabaseFunction("lade_avg_decimal", argumentCount: 1, pure: true, aggregate: DecimalAverage.self),
    DatabaseFunction("lade_min_decimal", argumentCount: 1, pure: true, aggregate: DecimalMinimum.self),
    DatabaseFunction("lade_max_decimal", argumentCount: 1, pure: true, aggregate: DecimalMaximum.self),
  ]

  private struct Values {
    private var values: [Value] = []

    mutating func add(_ arguments: [DatabaseValue], _ letter: Character) {
      guard let argument = arguments.first, !argument.isNull else { return }
      values.append(ComputedValue.value(of: argument, letter))
    }

    func aggregate(_ function: FetchPredicate.Function) -> DatabaseValue {
      ComputedValue.databaseValue(of: Aggregation.value(function, of: values))
    }
  }

  private struct Sum: DatabaseAggregate {
    private var values = Values()
    mutating func step(_ arguments: [DatabaseValue]) { values.add(arguments, "n") }
    func finalize() -> (any DatabaseValueConvertible)? { values.aggregate(.sum) }
  }

  private struct Average: DatabaseAggregate {
    private var values = Values()
    mutating func step(_ arguments: [DatabaseValue]) { values.add(arguments, "n") }
    func finalize() -> (any DatabaseValueConvertible)? { values.aggregate(.average) }
  }

  private struct DecimalSum: DatabaseAggregate {
    private var values = Values()
    mutating func step(_ arguments: [DatabaseValue]) { values.add(arguments, "d") }
    func finalize() -> (any DatabaseValueConvertible)? { values.aggregate(.sum) }
  }

  private struct DecimalAverage: DatabaseAggregate {
    private var values = Values()
    mutating func step(_ arguments: [DatabaseValue]) { values.add(arguments, "d") }
    func finalize() -> (any DatabaseValueConvertible)? { values.aggregate(.average) }
  }

  private struct DecimalMinimum: DatabaseAggregate {
    private var values = Values()
    mutating func step(_ arguments: [DatabaseValue]) { values.add(arguments, "d") }
    func finalize() -> (any DatabaseValueConvertible)? { values.aggregate(.minimum) }
  }

  private struct DecimalMaximum: DatabaseAggregate {
    private var values = Values()
    mutating func step(_ arguments: [DatabaseValue]) { values.add(arguments, "d") }
    func finalize() -> (any DatabaseValueConvertible)? { values.aggregate(.maximum) }
  }
}

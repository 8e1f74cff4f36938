import Foundation

/// The columns of partial results: two for an average, its sum and its count.
struct PartialColumns {
  private(set) var columns: [StoreQuery.Column] = []
  /// The column of ``columns`` that each output starts at.
  private(set) var places: [Range<Int>] = []

  init(_ outputs: [StoreQuery.Column]) {
    for output in outputs {
      let start = columns.count
      if case .aggregate(let whole) = output, whole.function == .average {
        for function in [whole.element.isWhole ? .average : .sum, .count] as [ExpressionDescription.Aggregate] {
          columns.append(.aggregate(.init(function: function, element: whole.element, isDistinct: false)))
        }
      } else {
        columns.append(output)
      }
      places.append(start..<columns.count)
    }
  }

  /// The columns with names of their own.
  var named: [(name: String, column: StoreQuery.Column)] { columns.enumerated().map { ("\($0)", $1) } }
}

/// An aggregate that is combined from those of several stores.
struct Combination {
  private enum Kind {
    case one
    case average(isWhole: Bool)
  }

  private let kind: Kind
  private var total: Accumulator
  private var count: Int64 = 0

  /// nil for a column that is no aggregate.
  init?(_ output: StoreQuery.Column) {
    guard case .aggregate(let aggregate) = output else { return nil }
    let element = aggregate.element
    switch aggregate.function {
    case .count: (kind, total) = (.one, Accumulator(.sum, to: .integer64))
    case .sum, .minimum, .maximum: (kind, total) = (.one, Accumulator(aggregate.function, to: aggregate.valueType))
    case .average:
      (kind, total) = (
        .average(isWhole: element.isWhole), Accumulator(.sum, to: element.isDecimal ? .decimal : .double)
      )
    }
  }

  /// Adds one store's partial result, in the columns of ``PartialColumns``.
  mutating func add(_ found: ArraySlice<Value>) throws {
    guard let first = found.first else { return }
    switch kind {
    case .one: total.add(first)
    case .average(let isWhole):
      guard case .int(let number)? = found.last, number > 0 else { return }
      count += number
      if case .double(let average) = first, isWhole {
        // A sum of integers is an integer, which might not fit 64 bits.
        total.add(.double((average * Double(number)).rounded()))
      } else {
        total.add(first)
      }
    }
  }

  /// The aggregate over all stores.
  func result() throws -> Value {
    guard case .average = kind else { return try total.result() }
    switch try total.result() {
    case _ where count == 0: return .null
    case .decimal(let sum): return .decimal(sum / Decimal(count))
    case .double(let sum): return .double(sum / Double(count))
    case let other: return other
    }
  }
}

extension ResolvedExpression {
  /// Whether its numbers are whole.
  fileprivate var isWhole: Bool { valueType.map { $0.isInteger || $0 == .boolean } ?? false }
}

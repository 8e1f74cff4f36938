import Foundation

/// The columns by which stores say what can be put together: of an average two.
struct PartialColumns {
  private(set) var columns: [StoreQuery.Column] = []
  /// Which of ``columns`` each output comes from.
  private(set) var places: [Range<Int>] = []

  init(_ outputs: [StoreQuery.Column], _ groups: [ResolvedPath]) {
    for output in outputs {
      let start = columns.count
      switch output {
      case .aggregate(.average, let path, _):
        columns.append(.aggregate(path.attributeType.isWhole ? .average : .sum, path, isDistinct: false))
        columns.append(.aggregate(.count, path, isDistinct: false))
      case .aggregate, .path: columns.append(output)
      }
      places.append(start..<columns.count)
    }
  }

  /// The columns with names of their own.
  var named: [(String, StoreQuery.Column)] { columns.enumerated().map { ("\($0)", $1) } }
}

/// An aggregate that is put together from those of several stores.
struct Combination {
  private enum Kind {
    case one
    case average(AttributeType)
  }

  private let kind: Kind
  private var total: Accumulator
  private var count: Int64 = 0

  /// nil for a column that is no aggregate.
  init?(_ output: StoreQuery.Column) {
    guard case .aggregate(let function, let path, _) = output else { return nil }
    let type = path.attributeType
    switch function {
    case .count: (kind, total) = (.one, Accumulator(.sum, of: .integer64))
    case .sum, .minimum, .maximum: (kind, total) = (.one, Accumulator(function, of: type))
    case .average: (kind, total) = (.average(type), Accumulator(.sum, of: type == .decimal ? .decimal : .double))
    }
  }

  /// Takes in what one store has found, in the columns of ``PartialColumns``.
  mutating func add(_ found: ArraySlice<Value>) throws {
    guard let first = found.first else { return }
    switch kind {
    case .one: try total.add(first)
    case .average(let type):
      guard case .int(let number)? = found.last, number > 0 else { return }
      count += number
      if case .double(let average) = first, type.isWhole {
        // A sum of whole numbers is one; as such it might not fit 64 bits.
        try total.add(.double((average * Double(number)).rounded()))
      } else {
        try total.add(first)
      }
    }
  }

  /// What all stores together have.
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

extension AttributeType {
  /// Whether its numbers are whole.
  fileprivate var isWhole: Bool { isInteger || self == .boolean }
}

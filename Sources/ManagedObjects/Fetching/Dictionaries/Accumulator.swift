import Foundation

/// One value from many: an aggregate while it is worked out in memory.
package struct Accumulator {
  private let function: ExpressionDescription.Aggregate
  private let type: AttributeType
  private var seen: Set<GroupKey>?
  private var count = 0
  private var integer: Int64 = 0
  private var double = 0.0
  private var decimal = Decimal()
  private var best = Value.null

  /// - Parameters:
  ///   - type: of the values that will be added.
  ///   - isDistinct: whether equal values count once.
  package init(_ function: ExpressionDescription.Aggregate, of type: AttributeType, isDistinct: Bool = false) {
    self.function = function
    self.type = type
    seen = isDistinct ? [] : nil
  }

  /// Takes in one value. Nil doesn't count.
  /// - Throws: ``ManagedObjectError/store(path:code:message:)`` when a sum of integers doesn't fit 64 bits.
  package mutating func add(_ value: Value) throws {
    guard !value.comparisonKey.isNull, seen?.insert(GroupKey([value])).inserted != false else { return }
    count += 1
    switch function {
    case .count: break
    case .minimum: if best.isNull || value.order(to: best).map({ $0 < 0 }) == true { best = value }
    case .maximum: if best.isNull || value.order(to: best).map({ $0 > 0 }) == true { best = value }
    case .sum, .average:
      switch value {
      case .decimal(let number): decimal += number
      case .double(let number): double += number
      case .int(let number): try add(number)
      case .bool(let bool): try add(bool ? 1 : 0)
      default: break
      }
    }
  }

  private mutating func add(_ number: Int64) throws {
    if function == .average {
      double += Double(number)
      return
    }
    let (sum, isTooLarge) = integer.addingReportingOverflow(number)
    guard !isTooLarge else { throw ManagedObjectError.store(path: "", code: 1, message: "integer overflow") }
    integer = sum
  }

  /// What all the values make.
  package func result() throws -> Value {
    switch function {
    case .count: return .int(Int64(count))
    case .minimum, .maximum: return best
    case .sum:
      switch type {
      case .decimal: return .decimal(decimal)
      case .double, .float: return .double(double)
      default: return .int(integer)
      }
    case .average:
      if count == 0 { return .null }
      return type == .decimal ? .decimal(decimal / Decimal(count)) : .double(double / Double(count))
    }
  }
}

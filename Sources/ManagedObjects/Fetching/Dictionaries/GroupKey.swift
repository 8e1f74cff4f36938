import Foundation

/// Values that are equal when a store groups them together: nil with nil, numbers by value, strings by their bytes.
struct GroupKey: Hashable {
  private let values: [Value]

  init(_ values: some Sequence<Value>) {
    self.values = values.map { value in
      // Swift's strings are equal when they are canonically equivalent.
      if case .string(let text) = value.comparisonKey { return .data(Data(text.utf8)) }
      return value.comparisonKey
    }
  }
}

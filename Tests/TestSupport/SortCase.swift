package import ManagedObjects

/// Sort descriptors and the order that they give the rows of ``PredicateFixture``, the same in every evaluator.
package struct SortCase: Sendable, CustomStringConvertible {
  package let entity: String
  package let descriptors: [FetchSortDescriptor]
  /// Numbers of the rows.
  package let expected: [Int64]

  package var description: String {
    descriptors.map { "\($0.keyPath) \($0.ascending ? "ascending" : "descending") \($0.comparison)" }
      .joined(separator: ", ")
  }

  private init(_ descriptors: [FetchSortDescriptor], of entity: String = "City", _ expected: [Int64]) {
    self.entity = entity
    self.descriptors = descriptors
    self.expected = expected
  }

  package static let all: [SortCase] = [
    .init([.init("name")], [6, 5, 12, 1, 11, 7, 3, 2, 4, 8, 9, 10]),
    .init([.init("name", ascending: false)], [10, 9, 8, 4, 2, 3, 7, 11, 1, 12, 5, 6]),
    .init([.init("name", comparison: .caseInsensitive)], [6, 5, 12, 1, 4, 11, 7, 3, 2, 8, 9, 10]),
    .init([.init("name", comparison: .localizedStandard)], [6, 5, 12, 4, 1, 11, 9, 8, 7, 2, 3, 10]),
    .init([.init("name", comparison: .localizedCaseInsensitive)], [6, 5, 12, 1, 4, 11, 8, 9, 7, 2, 3, 10]),
    .init([.init("name", ascending: false, comparison: .localized)], [10, 3, 2, 7, 8, 9, 11, 1, 4, 12, 5, 6]),
    .init([.init("country.name", comparison: .localized), .init("SELF")], [3, 5, 6, 8, 9, 10, 4, 7, 11, 12, 1, 2]),
    .init([.init("population")], [4, 6, 8, 9, 11, 7, 5, 3, 1, 2, 12, 10]),
    .init([.init("population", ascending: false)], [10, 12, 2, 1, 3, 5, 7, 11, 9, 8, 6, 4]),
    .init([.init("price")], [6, 11, 12, 4, 5, 8, 9, 2, 3, 1, 10, 7]),
    .init([.init("area")], [3, 4, 6, 7, 11, 5, 8, 9, 1, 2, 10, 12]),
    .init([.init("founded")], [3, 4, 5, 6, 7, 8, 9, 10, 1, 2, 11, 12]),
    .init([.init("visited", ascending: false)], [2, 1, 12, 10, 11, 9, 8, 7, 6, 5, 4, 3]),
    .init([.init("uid", ascending: false), .init("objectID")], [10, 2, 1, 3, 4, 5, 6, 7, 8, 9, 11, 12]),
    .init([.init("isCapital"), .init("name", ascending: false)], [9, 8, 4, 3, 7, 11, 6, 2, 5, 10, 1, 12]),
    .init([.init("country.code"), .init("population")], [6, 8, 9, 3, 10, 1, 2, 4, 11, 7, 12, 5]),
    .init([.init("objectID", ascending: false)], [12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]),
    .init([.init("SELF")], Array(1...12)),
    .init([.init("station.number", ascending: false), .init("SELF")], [2, 1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]),
    .init([.init("plate")], of: "Vehicle", [4, 3, 1, 2]),
    .init([.init("home.name"), .init("seats", ascending: false)], of: "Car", [4, 1, 2]),
  ]
}

/// A statement that has ended.
package struct PostgresTrace: Sendable {
  package let statement: String
  package let parameters: [PostgresValue]
  /// The rows that it has returned or changed.
  package let rows: Int
  package let time: Duration
}

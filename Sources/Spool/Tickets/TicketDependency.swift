/// A job that has to have come to its end before the ticket's job runs.
package struct TicketDependency: Sendable, Equatable {
  /// How it has to have ended.
  package enum Condition: String, Sendable, CaseIterable {
    case succeeded, ended
  }

  /// The number of a job that is in the queue.
  package var job: Int64
  package var condition = Condition.succeeded
}

extension TicketDependency {
  private enum Key: String, CaseIterable { case job, condition }

  /// A job's number, or a mapping of `job` and `condition`.
  init(_ node: TicketNode) throws(TicketError) {
    guard case .mapping = node.node else {
      job = Int64(try node.integer(1...Int.max))
      return
    }
    let values = try node.mapping(of: Key.self)
    guard let number = values[.job] else { throw node.wrongType("a job's number, or {job: 12, condition: ended}") }
    job = Int64(try number.integer(1...Int.max))
    if let word = values[.condition] { condition = try word.word(of: Condition.self) }
  }
}

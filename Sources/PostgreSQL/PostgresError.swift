/// What a server, or the connection to it, has failed with.
package struct PostgresError: Error, Sendable, Hashable {
  /// Whether there is no connection any more: the server is gone, goes, or never was there.
  package let isLoss: Bool
  /// The five characters of SQLSTATE; empty if the failure isn't the server's.
  package let state: String
  /// The message in one line, in the words of the server or of libpq.
  package let message: String
  /// The server's detail, such as the values of a key; nil if it gives none.
  package let detail: String?

  package init(isLoss: Bool = false, state: String = "", message: String, detail: String? = nil) {
    // Connection exceptions, and a server that shuts down, has crashed or starts.
    self.isLoss = isLoss || state.hasPrefix("08") || ["57P01", "57P02", "57P03"].contains(state)
    self.state = state
    self.message = message
    self.detail = detail
  }

  /// Whether the same transaction may succeed when it is run again: it is serialised, a deadlock or a lock was in its way, or the
  /// server lacked resources.
  package var mayPass: Bool { isLoss || ["40001", "40P01", "55P03"].contains(state) || state.hasPrefix("53") }
}

extension PostgresError: CustomStringConvertible {
  package var description: String { message + (state.isEmpty ? "" : " (SQLSTATE \(state))") }
}

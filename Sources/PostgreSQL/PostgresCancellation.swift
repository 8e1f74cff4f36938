import CPostgreSQL

/// Ends the statement that a connection runs, if any.
package final class PostgresCancellation: @unchecked Sendable {
  // Sendable: libpq's object never changes, and PQcancel may be called on any thread.
  private let request: OpaquePointer?

  init(_ request: OpaquePointer?) { self.request = request }

  deinit { PQfreeCancel(request) }

  package func cancel() {
    guard let request else { return }
    var reason = [CChar](repeating: 0, count: 256)
    PQcancel(request, &reason, Int32(reason.count))
  }
}

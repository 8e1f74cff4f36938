import ControlServer
import LadeTypes
import ManagedObjects
import ServiceLifecycle

/// How long a query may take.
struct QueryLimit: Sendable {
  let time: Duration
  /// The limit's key in the configuration.
  let key: String

  /// Runs a read that ends after the limit, when the task is cancelled, because the client has gone, and when the daemon stops.
  /// - Parameter body: passes the interruption to where it reads.
  /// - Throws: ``ControlError`` for what the client can correct; `CancellationError`; or what `body` throws.
  func reading<T: Sendable>(_ body: (Interruption) async throws -> T) async throws -> T {
    let interruption = Interruption()
    let timer = Task {
      // Cancelled when the query has ended.
      guard (try? await Task.sleep(for: time)) != nil else { return }
      interruption.interrupt(.timedOut)
    }
    defer { timer.cancel() }
    do {
      return try await withTaskCancellationOrGracefulShutdownHandler {
        try await body(interruption)
      } onCancelOrGracefulShutdown: {
        interruption.interrupt(.cancelled)
      }
    } catch let error as Interrupted {
      throw problem(error)
    } catch let error as FetchPredicateError {
      var hint: String?
      if case .unknownProperty(let name, _, nil, _) = error {
        hint = "If \(name) is a text, it needs quotes: '\(name)'."
      }
      throw ControlError.invalid(field: "where", reason: "\(error)", hint: hint)
    } catch let error as FetchRequestError {
      throw ControlError.invalid(field: "columns", reason: "\(error)")
    } catch ManagedObjectError.store(let failure) where failure.kind == .tooComplex {
      throw ControlError.tooComplex(reason: failure.message)
    }
  }

  /// What the end of a query means to its client.
  func problem(_ error: Interrupted) -> any Error {
    switch error.cause {
    case .timedOut: ControlError.timeLimit(time, key: key)
    case .cancelled: CancellationError()
    }
  }
}

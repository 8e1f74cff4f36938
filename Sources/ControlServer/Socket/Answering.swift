import ControlAPI
import Foundation
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import Synchronization

/// Answers requests by routes, whatever socket they came on.
struct Answering: Sendable {
  private let responder: RouterResponder<ControlContext>
  private let date = AnswerDate()
  private let connections = ConnectionBook()
  private let logger: Logger

  init(_ router: Router<ControlContext>, logger: Logger) {
    responder = router.buildResponder()
    self.logger = logger
  }

  /// Answers one request.
  /// - Parameter executor: the connection's thread, if the request is answered there.
  func answer(
    _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel, on executor: LoopExecutor?
  ) async throws {
    var context = ControlContext(source: .init(channel: channel, logger: logger))
    context.connections = connections
    context.executor = executor
    var response: Response
    do {
      response = try await responder.respond(to: request, context: context)
    } catch let error as HTTPParserError {
      throw error
    } catch {
      response = Response(status: .internalServerError)
    }
    response.headers[.date] = date.text
    response.headers[.server] = LadeVersion.serverHeader
    do {
      try await writer.write(response: response.head, body: response.body)
    } catch is HTTPParserError {
      // As such it would be answered once more.
      throw BrokenRequest()
    }
  }

  /// Answers one request wherever there is a thread.
  func answerAnywhere(
    _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
  ) async throws {
    var only = Optional(writer)
    try await withTaskExecutorPreference(globalConcurrentExecutor) {
      if let writer = only.take() { try await answer(request, writer, channel, on: nil) }
    }
  }
}

/// The rest of a request, which isn't HTTP, came while it was being answered. The connection is closed.
private struct BrokenRequest: Error {}

/// The `Date` of answers (RFC 9110, 6.6.1), made when one is given: a server that has it at hand wakes up every second.
final class AnswerDate: Sendable {
  private let last = Mutex<(second: time_t, text: String)>((0, ""))

  /// The time now, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
  var text: String {
    let now = time(nil)
    return last.withLock { last in
      if last.second != now { last = (now, Self.text(of: now)) }
      return last.text
    }
  }

  static func text(of second: time_t) -> String {
    var second = second
    var parts = tm()
    gmtime_r(&second, &parts)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return "\(days[Int(parts.tm_wday) % 7]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon) % 12]) "
      + "\(1900 + parts.tm_year) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
  }
}

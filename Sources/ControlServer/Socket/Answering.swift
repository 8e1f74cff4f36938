import ControlAPI
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// Answers requests by routes, whatever socket they came on.
struct Answering: Sendable {
  private let responder: RouterResponder<ControlContext>
  private let date = AnswerDate()
  private let peers = PeerBook()
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
    context.peers = peers
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

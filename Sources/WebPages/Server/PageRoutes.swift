import ControlAPI
import ControlServer
import FoundationEssentials
import Hummingbird
import Logging
import NIOCore

/// The pages by their addresses. Each is made for a session, as whose peer the backend is asked: what a user may not do
/// over the control socket, no page does.
struct PageRoutes<Backend: ControlBackend>: Sendable {
  let backend: Backend
  let sessions: WebSessions
  let check: RequestCheck
  /// Nil where no proxy names users.
  var proxyUsers: ProxyUsers?
  let claims = UploadClaims()
  let meter: RequestMeter
  let grace: TimeAmount
  let logger: Logger

  /// A request of a browser that has signed in.
  struct Visit: Sendable {
    let request: Request
    let context: ControlContext
    /// Of the browser's cookie; nil where a proxy names the user.
    let secret: SessionSecret?
    let session: WebSession

    var peer: Peer { session.peer }

    func query() throws -> QueryString { try QueryString(parsing: request.uri.query ?? "") }

    /// The number of the job in the path.
    func job() throws -> Int64 {
      let text = try context.parameters.require("id")
      guard let id = Int64(text), id >= 0 else {
        throw ControlError.invalid(field: "job", reason: "'\(text)' isn't a job's number")
      }
      return id
    }

    /// The name that a part of the path says, such as that of a lane.
    func name(_ part: String) throws -> String {
      // A plus sign is itself in a path.
      let text = try context.parameters.require(part).replacing("=", with: "%3D").replacing("+", with: "%2B")
      guard let name = try QueryString(parsing: text).names.first else {
        throw ControlError.invalid(field: part, reason: "there is no name")
      }
      return name
    }

    /// The number that a part of the path says.
    func number(_ part: String) throws -> Int64 {
      let text = try context.parameters.require(part)
      guard let number = Int64(text), number >= 0 else {
        throw ControlError.invalid(field: part, reason: "'\(text)' isn't a number")
      }
      return number
    }

    /// What a form sends: as a query is written, in the body (URL Standard, 5).
    func form() async throws -> QueryString {
      try QueryString(parsing: String(decoding: try await body(), as: UTF8.self))
    }

    func body() async throws -> [UInt8] {
      Array(try await request.body.collect(upTo: Self.longestBody).readableBytesView)
    }

    /// As long as a body of the interface.
    private static var longestBody: Int { 1 << 20 }
  }

  func router() -> Router<ControlContext> {
    let router = Router(context: ControlContext.self, options: .autoGenerateHeadEndpoints)
    router.add(middleware: PageHeaders())
    router.add(middleware: ProblemPages(pages: self))
    router.add(middleware: PageMeter(meter: meter))
    for asset in Asset.all {
      router.get("/assets/{version}/\(asset.name)") { request, context in
        try Self.answer(asset, to: request, version: context.parameters.require("version"))
      }
    }
    router.get("/sign-in") { request, context in
      try context.session == nil ? signIn(request) : redirect(to: .overview)
    }
    router.post("/sign-out") { request, _ in signOut(request) }
    page(router, "/") { try await overview($0) }
    page(router, "/jobs") { try await jobs($0) }
    page(router, "/jobs/complete", isLinked: false) { try await completeJobs($0) }
    page(router, "/jobs/{id}") { try await job($0) }
    for action in JobChange.Action.onPages {
      let path = "/jobs/{id}/\(action.rawValue)"
      page(router, path) { try await confirmation(of: action, $0) }
      change(router, path) { try await perform(action, $0) }
    }
    for action in PauseAction.allCases {
      change(router, "/lanes/{lane}/\(action.rawValue)") { try await perform(action, $0) }
    }
    addChangePages(to: router)
    addRejectPages(to: router)
    addDataPages(to: router)
    addDataEditPages(to: router)
    addDataStreams(to: router)
    addModelPages(to: router)
    addUploadPages(to: router)
    addMappingPages(to: router)
    addSchedulePages(to: router)
    addStorePages(to: router)
    addSharingPages(to: router)
    addDaemonPages(to: router)
    addHelpPages(to: router)
    router.get("/events") { request, context in try events(visit(request, context)) }
    return router
  }

  /// Whom a request acts for; nil for who hasn't signed in.
  func session(of request: Request, _ context: ControlContext) -> (secret: SessionSecret?, session: WebSession)? {
    if let named = context.session { return (nil, named) }
    // What an open page fetches by itself is no use, what somebody has it send is.
    let isUse = !RequestCheck.isOfScript(request) || request.method == .post
    for secret in SessionCookie.secrets(of: request) {
      if let session = sessions.session(secret, isUse: isUse) { return (secret, session) }
    }
    return nil
  }

  func response(_ page: Page, for session: WebSession?, status: HTTPResponse.Status = .ok) -> Response {
    let document = page.document(
      for: session, isReadOnly: check.settings.isReadOnly, sharesQueue: backend.sharesQueue)
    let body = ByteBuffer(string: document)
    return Response(
      status: status,
      headers: [.contentType: "text/html; charset=utf-8", .contentLength: String(body.readableBytes)],
      body: ResponseBody(byteBuffer: body))
  }

  func redirect(to link: PageLink) -> Response {
    Response(status: .seeOther, headers: [.location: link.text, .contentLength: "0"])
  }

  /// A page that only who has signed in sees. What it takes to make it ends when the browser goes away.
  /// - Parameter isLinked: whether other sites may lead to it: it is no file, nothing for a script, and has no effect.
  func page(
    _ router: Router<ControlContext>, _ path: String, isLinked: Bool = true,
    _ body: @escaping @Sendable (Visit) async throws -> PageAnswer
  ) {
    router.get(RouterPath(path)) { request, context in
      let visit = try visit(request, context, isLinked: isLinked)
      return response(try await context.untilGone { try await body(visit) }, to: visit)
    }
  }

  private func response(_ answer: PageAnswer, to visit: Visit) -> Response {
    switch answer {
    case .page(let page, let status): return response(page, for: visit.session, status: status)
    case .redirect(let link): return redirect(to: link)
    case .yaml(let text):
      return Response(
        status: .ok,
        headers: [
          .contentType: "application/yaml; charset=utf-8", .contentLength: String(text.utf8.count),
          .contentDisposition: "attachment; filename=\"recipe.yaml\"",
        ], body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    case .json(let text):
      return Response(
        status: .ok, headers: [.contentType: "application/json", .contentLength: String(text.utf8.count)],
        body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
  }

  /// What a form of a page does, for who has signed in, unless nothing may be changed. It ends with a page or leads to one.
  func change(
    _ router: Router<ControlContext>, _ path: String, _ body: @escaping @Sendable (Visit) async throws -> PageAnswer
  ) {
    router.post(RouterPath(path)) { request, context in
      let visit = try visit(request, context)
      try check.checkMayChange()
      return response(try await body(visit), to: visit)
    }
  }

  /// - Parameter isLinked: as ``page(_:_:isLinked:_:)`` has it.
  func visit(_ request: Request, _ context: ControlContext, isLinked: Bool = false) throws -> Visit {
    guard let (secret, session) = session(of: request, context) else { throw Problem.signedOut }
    if session.isNamedByProxy { try RequestCheck.checkSite(request, isLinked: isLinked) }
    return Visit(request: request, context: context, secret: secret, session: session)
  }

  /// Whether what only operators may do is offered: what would be refused isn't.
  func mayOperate(_ visit: Visit) -> Bool { !check.settings.isReadOnly && backend.isOperator(visit.peer) }

  private static func answer(_ asset: Asset, to request: Request, version: String) throws -> Response {
    guard version == asset.version else { throw HTTPError(.notFound) }
    let headers: HTTPFields = [
      .eTag: asset.tag, .cacheControl: "public, max-age=31536000, immutable", .contentType: asset.contentType,
    ]
    if let known = request.headers[.ifNoneMatch], known == "*" || known.contains(asset.tag) {
      return Response(status: .notModified, headers: headers)
    }
    var response = Response(status: .ok, headers: headers, body: .init(byteBuffer: ByteBuffer(bytes: asset.bytes)))
    response.headers[.contentLength] = String(asset.bytes.count)
    return response
  }
}

/// What a page's address leads to.
enum PageAnswer: Sendable {
  case page(Page, HTTPResponse.Status)
  case redirect(PageLink)
  /// For a script.
  case json(String)
  /// A file to keep.
  case yaml(String)

  static func page(_ page: Page) -> PageAnswer { .page(page, .ok) }
}

// MARK: Signing in and out

extension PageRoutes {
  /// Trades the link of `ladectl web` for a session.
  private func signIn(_ request: Request) throws -> Response {
    // A look at the head must not use the link, and another site must not sign anybody in.
    guard request.method == .get else { throw HTTPError(.methodNotAllowed) }
    guard !RequestCheck.isCrossSite(request) else { throw Problem.foreignLink }
    let query = try QueryString(parsing: request.uri.query ?? "")
    try query.refuseNames(otherThan: ["token"])
    guard let secret = query["token"].flatMap({ SessionSecret($0) }), let traded = try sessions.trade(secret) else {
      throw Problem.usedLink
    }
    // One browser, one session.
    for old in SessionCookie.secrets(of: request) { sessions.end(old) }
    logger.notice("signed in on the web pages", metadata: ["user": "\(traded.1.user)", "uid": "\(traded.1.peer.uid)"])
    var response = redirect(to: .overview)
    response.headers[.setCookie] = SessionCookie.setting(traded.0, isSecure: check.settings.linkURL?.isSecure == true)
    return response
  }

  private func signOut(_ request: Request) -> Response {
    for secret in SessionCookie.secrets(of: request) { sessions.end(secret) }
    var response = response(Page.signedOut, for: nil)
    response.headers[.setCookie] = SessionCookie.removing
    return response
  }
}

// MARK: Changes

extension PageRoutes {
  private func perform(_ action: JobChange.Action, _ visit: Visit) async throws -> PageAnswer {
    let id = try visit.job()
    log("\(action.rawValue) job \(id)", visit)
    switch action {
    case .cancel: _ = try await backend.cancel(id, by: visit.peer)
    case .retry: _ = try await backend.retry(id, by: visit.peer)
    case .hold: _ = try await backend.hold(id, by: visit.peer)
    case .release: _ = try await backend.release(id, by: visit.peer)
    case .priority: throw HTTPError(.notFound)
    case .remove:
      _ = try await backend.remove(id, by: visit.peer)
      return .redirect(.allJobs)
    }
    return .redirect(.job(id))
  }

  private func perform(_ action: PauseAction, _ visit: Visit) async throws -> PageAnswer {
    let lane = try visit.name("lane")
    log("\(action.rawValue) lane \(lane)", visit)
    switch action {
    case .pause: _ = try await backend.pause(lane: lane, by: visit.peer)
    case .resume: _ = try await backend.resume(lane: lane, by: visit.peer)
    }
    return .redirect(.overview)
  }

  /// Who asked for what on the pages, whether it was allowed or not.
  func log(_ what: String, _ visit: Visit) {
    logger.notice(
      "asked for on the web pages", metadata: ["action": "\(what)", "uid": "\(visit.peer.uid)"])
  }
}

// MARK: Events

extension PageRoutes {
  private static var longestNamedStream: Duration { .seconds(3600) }

  /// Tells, of a long answer, whether its user is still signed in. Who has signed out at a proxy gets no more after an hour;
  /// a browser connects again by itself.
  func staysSignedIn(_ visit: Visit) -> @Sendable () -> Bool {
    let (sessions, secret) = (sessions, visit.secret)
    let end = ContinuousClock.now + Self.longestNamedStream
    return {
      guard let secret else { return ContinuousClock.now < end }
      return sessions.session(secret, isUse: false) != nil
    }
  }

  /// Says which jobs have changed, at most twice a second, so that their pages are fetched again. It says nothing more once
  /// the session has ended.
  private func events(_ visit: Visit) throws -> Response {
    let query = try visit.query()
    try query.refuseNames(otherThan: ["job"])
    let job = try query.integer("job", in: 0...Int64.max)
    let changes = Handed(backend.jobEvents())
    let queue = EventQueue<Bool>(capacity: 1)
    let changed = ChangedJobs()
    let isSignedIn = staysSignedIn(visit)
    return EventStream(meter: meter, grace: grace).response(to: visit.request, visit.context) {
      guard let changes = changes.take() else { return true }
      for await change in changes where job == nil || change.id == job {
        changed.insert(change.id)
        queue.put(true, replacing: 0)
      }
      if !Task.isCancelled { queue.finish() }
      return true
    } write: { writer in
      while await queue.take() != nil, isSignedIn() {
        try await writer.send(ServerSentEvent(name: "changed", data: changed.take()))
        try await Task.sleep(for: .milliseconds(500))
      }
    } stop: {
      queue.close()
    }
  }
}

import ControlAPI
import Hummingbird

extension ControlRoutes {
  func recipes(_ request: Request) async throws -> Response {
    try request.refuseQuery()
    return try .json(RecipeList(recipes: backend.recipes()))
  }

  func test(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    let test = try await request.decoded(as: RecipeTest.self)
    if let source = test.source { try Self.checkIsAbsolute(source) }
    if let records = test.records, !(1...RecipeTest.maximumRecords).contains(records) {
      throw ControlError.invalid(field: "records", reason: "it must be from 1 to \(RecipeTest.maximumRecords)")
    }
    if let rows = test.rows, !(0...RecipeTest.maximumRows).contains(rows) {
      throw ControlError.invalid(field: "rows", reason: "it must be from 0 to \(RecipeTest.maximumRows)")
    }
    let peer = try await context.peer()
    return try .json(await context.untilGone { try await backend.test(test, by: peer) })
  }

  func diff(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    let diff = try await request.decoded(as: ModelDiffRequest.self)
    try Self.checkIsAbsolute(diff.source)
    let peer = try await context.peer()
    return try .json(await context.untilGone { try await backend.diff(diff, by: peer) })
  }

  func replay(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    let replay = try await request.decoded(as: ReplayRequest.self)
    if let until = replay.until, until <= replay.since {
      throw ControlError.invalid(field: "until", reason: "it must be after since")
    }
    let (recipe, peer) = try await (context.name("recipe"), context.peer())
    return try .json(await backend.replay(replay, of: recipe, by: peer))
  }

  func cursor(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    return try .json(await backend.cursor(of: context.name("recipe")))
  }

  func setCursor(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    let change = try await request.decoded(as: CursorChange.self)
    let (recipe, peer) = try await (context.name("recipe"), context.peer())
    return try .json(await backend.setCursor(of: recipe, to: change, by: peer))
  }

  func stores(_ request: Request, _ context: ControlContext) async throws -> Response {
    let query = try StoreCountQuery(request.query())
    return try .json(await StoreList(stores: context.untilGone { try await backend.stores(query) }))
  }

  func store(_ request: Request, _ context: ControlContext) async throws -> Response {
    let (name, query) = try (context.name("store"), StoreCountQuery(request.query()))
    return try .json(await context.untilGone { try await backend.store(name, query) })
  }

  func modelVersions(_ request: Request, _ context: ControlContext) async throws -> Response {
    let (store, query) = try (context.name("store"), ModelVersionQuery(request.query()))
    return try .json(await backend.modelVersions(of: store, query))
  }

  func backups(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    return try .json(await backend.backups(of: context.name("store")))
  }

  func objects(_ request: Request, _ context: ControlContext) async throws -> Response {
    let query = try ObjectQuery(entity: context.name("entity"), request.query())
    let peer = try await context.peer()
    return try .json(await context.untilGone { try await backend.objects(query, by: peer) })
  }

  func count(_ request: Request, _ context: ControlContext) async throws -> Response {
    let query = try ObjectQuery(entity: context.name("entity"), request.query())
    let peer = try await context.peer()
    let count = try await context.untilGone { try await backend.count(query, by: peer) }
    return try .json(ObjectCount(entity: query.entity, count: count))
  }

  func origin(_ request: Request, _ context: ControlContext) async throws -> Response {
    let query = try OriginQuery(entity: context.name("entity"), request.query())
    let peer = try await context.peer()
    return try .json(await context.untilGone { try await backend.origins(query, by: peer) })
  }
}

extension ControlRoutes {
  /// The standing query's result, and then what becomes of it.
  func watch(_ request: Request, _ context: ControlContext) async throws -> Response {
    let (query, peer) = try await (WatchQuery(request.query()), context.peer())
    let events = try await Handed(context.untilGone { try await backend.watch(query, by: peer) })
    // As many differences as a few whole results have.
    let queue = EventQueue<WatchEvent>(capacity: 8 * WatchQuery.maximumLimit)
    return EventStream(meter: meter, grace: grace).response(to: request, context) {
      guard let events = events.take() else { return true }
      for await event in events where !queue.put(event, size: event.size) { return false }
      queue.finish()
      return true
    } write: { writer in
      while let events = await queue.take() {
        for event in events { try await writer.send(event.serverSentEvent()) }
      }
      if queue.isOverfull { try await writer.send(WatchEvent.lagged.serverSentEvent()) }
    } stop: {
      queue.close()
    }
  }
}

extension WatchEvent {
  /// What it takes of the room that there is for a client's events: one for each object.
  fileprivate var size: Int {
    switch self {
    case .result(let result): max(1, result.rows.count)
    case .changes(let changes): max(1, changes.changes.count)
    case .lagged, .problem: 1
    }
  }
}

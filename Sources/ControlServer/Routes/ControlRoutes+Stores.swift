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
    try Self.checkIsAbsolute(test.source)
    if let records = test.records, !(1...RecipeTest.maximumRecords).contains(records) {
      throw ControlError.invalid(field: "records", reason: "it must be from 1 to \(RecipeTest.maximumRecords)")
    }
    return try .json(await backend.test(test, by: context.peer()))
  }

  func stores(_ request: Request) async throws -> Response {
    try .json(await StoreList(stores: backend.stores(StoreQuery(request.query()))))
  }

  func store(_ request: Request, _ context: ControlContext) async throws -> Response {
    try .json(await backend.store(context.name("store"), StoreQuery(request.query())))
  }

  func backups(_ request: Request, _ context: ControlContext) async throws -> Response {
    try request.refuseQuery()
    return try .json(await backend.backups(of: context.name("store")))
  }

  func objects(_ request: Request, _ context: ControlContext) async throws -> Response {
    let query = try ObjectQuery(entity: context.name("entity"), request.query())
    return try .json(await backend.objects(query, by: context.peer()))
  }

  func count(_ request: Request, _ context: ControlContext) async throws -> Response {
    let query = try ObjectQuery(entity: context.name("entity"), request.query())
    return try .json(ObjectCount(entity: query.entity, count: await backend.count(query, by: context.peer())))
  }
}

extension ControlRoutes {
  /// The standing query's result, and then what becomes of it.
  func watch(_ request: Request, _ context: ControlContext) async throws -> Response {
    let events = try await Handed(backend.watch(WatchQuery(request.query())))
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

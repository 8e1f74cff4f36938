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

  func objects(_ request: Request, _ context: ControlContext) async throws -> Response {
    let query = try ObjectQuery(entity: context.name("entity"), request.query())
    return try .json(await backend.objects(query, by: context.peer()))
  }

  func count(_ request: Request, _ context: ControlContext) async throws -> Response {
    let query = try ObjectQuery(entity: context.name("entity"), request.query())
    return try .json(ObjectCount(entity: query.entity, count: await backend.count(query, by: context.peer())))
  }
}

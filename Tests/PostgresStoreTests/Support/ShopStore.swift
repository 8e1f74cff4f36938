import Foundation
import ManagedObjects
import PostgreSQL
import PostgresStore
import TestSupport

/// A store of customers and orders in a schema of its own, and versions of its model.
struct ShopStore: Sendable {
  let address: String
  /// How the server itself is reached.
  let direct: String
  let schema: String
  /// The way past the pooler that all tests go through.
  private var past: String?

  init() throws {
    self.init(try PostgresCluster.shared())
  }

  /// - Parameter address: how the store is reached; nil for the server's own address.
  init(_ server: PostgresCluster, address: String? = nil) {
    self.address = address ?? server.address()
    direct = server.direct()
    if TransactionPooler.sizeForAll != nil, address == nil { past = direct }
    schema = PostgresCluster.newSchema()
  }

  /// One that another process has made.
  init(_ address: String, _ schema: String) {
    (self.address, direct) = (address, address)
    self.schema = schema
  }

  static func first() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [customer(), order()])
  }

  /// A column more and one with another name; both tables stay where they are.
  static func second() throws -> ManagedObjectModel {
    var customer = customer()
    customer.attributes[0] = AttributeDefinition("title", .string)
    customer.attributes[0].renamingIdentifier = "name"
    customer.attributes.append(AttributeDefinition("code", .integer16, isOptional: false, defaultValue: .int(7)))
    return try ManagedObjectModel(entities: [customer, order()])
  }

  /// Both in one table, which is made again.
  static func third() throws -> ManagedObjectModel { try together() }

  /// The same with a value that orders alone have, for which their table is made again.
  static func fourth() throws -> ManagedObjectModel {
    try together([AttributeDefinition("state", .integer16, isOptional: false, defaultValue: .int(1))])
  }

  private static func together(_ attributes: [AttributeDefinition] = []) throws -> ManagedObjectModel {
    var (customer, order) = (customer(), order())
    let parent = EntityDefinition("Record", isAbstract: true, attributes: [AttributeDefinition("name", .string)])
    (customer.parent, order.parent) = ("Record", "Record")
    customer.attributes = []
    order.attributes = [AttributeDefinition("amount", .decimal)] + attributes
    return try ManagedObjectModel(entities: [parent, customer, order])
  }

  /// An entity more.
  static func wider() throws -> ManagedObjectModel {
    try ManagedObjectModel(entities: [
      customer(), order(), EntityDefinition("Ware", attributes: [AttributeDefinition("name", .string)]),
    ])
  }

  private static func customer() -> EntityDefinition {
    EntityDefinition(
      "Customer", attributes: [AttributeDefinition("name", .string)],
      relationships: [RelationshipDefinition("orders", to: "Order", inverse: "customer", isToMany: true)])
  }

  private static func order() -> EntityDefinition {
    EntityDefinition(
      "Order", attributes: [AttributeDefinition("name", .string), AttributeDefinition("amount", .decimal)],
      relationships: [RelationshipDefinition("customer", to: "Customer", inverse: "orders")])
  }

  func open(
    _ model: ManagedObjectModel, options: PostgresStoreOptions = .init(),
    _ change: (inout PersistentStoreDescription) -> Void = { _ in }
  ) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: model)
    var options = options
    options.direct = options.direct ?? past
    var description = PersistentStoreDescription.postgres(address, schema: schema, options: options)
    description.timeout = 10
    change(&description)
    try coordinator.addPersistentStore(description)
    return coordinator
  }

  /// Makes the store of the first version with some customers, each with an order.
  func fill(_ count: Int = 3) throws {
    let coordinator = try open(Self.first())
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    for number in 0..<count {
      let customer = try context.insert("Customer")
      try customer.setValue(.string("C\(number)"), forKey: "name")
      let order = try context.insert("Order")
      try order.setValue(.string("O\(number)"), forKey: "name")
      try order.setValue(.decimal(Decimal(number)), forKey: "amount")
      try order.setValue(.object(customer.objectID), forKey: "customer")
    }
    try context.save()
    try coordinator.close()
  }

  /// The names of orders with those of their customers.
  func orders(_ model: ManagedObjectModel, name: String = "name", migrates: Bool = true) throws -> [String: String] {
    let coordinator = try open(model) { $0.shouldMigrateStoreAutomatically = migrates }
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    var found: [String: String] = [:]
    for order in try context.fetch(FetchRequest<ManagedObject>(entityName: "Order")) {
      var customer: ManagedObject?
      if case .object(let id)? = order.value(forKey: "customer") { customer = try context.existingObject(with: id) }
      found[order.value(forKey: "name")?.plainText ?? ""] = customer?.value(forKey: name)?.plainText ?? ""
    }
    try coordinator.close()
    return found
  }

  static func expected(_ count: Int = 3) -> [String: String] {
    Dictionary(uniqueKeysWithValues: (0..<count).map { ("O\($0)", "C\($0)") })
  }

  /// Runs statements in the schema, as another program would. Returns the first value of the last.
  @discardableResult
  func sql(_ statements: String) throws -> String? {
    try PostgresAccess(direct, schema: schema).connect().text(statements)
  }

  /// The number of rows of a table, or of one of the server's.
  func count(_ table: String, where condition: String = "TRUE") throws -> Int? {
    try sql("SELECT count(*) FROM \(table) WHERE \(condition)").flatMap { Int($0) }
  }
}

import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// Controllers whose predicates go over to-many relationships, or that select and sort by derived attributes. After every
/// random change, here or merged, they must show what a new fetch finds.
@Suite("Fetched results controllers over collections and derived attributes")
struct FetchedCollectionsRandomTests {
  @Test("show what a fetch finds", arguments: StoreKind.allCases, 1...4)
  func followed(_ kind: StoreKind, _ seed: Int) throws {
    var run = try CollectionsRun(kind, seed: UInt64(seed))
    for step in 0..<60 {
      let operation = try run.step()
      try run.check("step \(step) of seed \(seed): \(operation)")
    }
  }
}

/// One run of random changes to articles, their categories, tags and readers.
struct CollectionsRun {
  private let stack: CompanyStack
  private let here: ManagedObjectContext
  private let there: ManagedObjectContext
  private var watched: [(controller: FetchedResultsController<ManagedObject>, list: ListView<ManagedObject>)] = []
  private var random: FixedNumbers
  /// Half of the runs never fetch in the context they watch, so that most rows stay unknown there.
  private let looksAside: Bool

  private static let names = ["Ada", "Bob", "Cy", "Dee"]

  init(_ kind: StoreKind, seed: UInt64) throws {
    stack = try CompanyStack(kind, model: NewsModel.model)
    here = stack.context("here")
    there = stack.context("there")
    random = FixedNumbers(state: seed &+ 100)
    looksAside = seed.isMultiple(of: 2)
    for entity in ["Category", "Tag", "Reader", "Country"] {
      for name in Self.names.prefix(3) { try there.insert(entity).setValue(.string(name), forKey: "name") }
    }
    for _ in 0..<15 { try insertArticle(there) }
    try there.save()
    try watch("Category", "ANY articles.name == 'Ada'")
    try watch("Category", "articles.@count > 4", ["name"])
    try watch("Category", "SUBQUERY(articles, $a, $a.views > 3 AND ANY $a.tags.name == 'Bob').@count > 0")
    try watch("Category", "articles.@sum.views > 14 AND NONE articles.tags.name == 'Dee'", ["-articlesCount"])
    try watch("Category", "articlesCount > 3", ["-views"])
    try watch("Article", "ANY tags.name == 'Ada'", ["category.views", "name"])
    try watch("Article", "ANY category.articles.views > 5")
    try watch("Article", "category.articlesCount > 4", ["categoryName"])
    try watch("Article", "tags.@count > 1 OR ALL tags.articles.views < 5", ["-views"], limit: looksAside ? 4 : 0)
    try watch("Article", "category.country.name == 'Ada'", ["category.country.name", "name"])
    try watch("Tag", "ANY articles.category.name == 'Ada'", ["-articlesCount", "name"])
    try watch("Reader", "ANY saved.name == 'Ada'")
    try watch("Reader", "SUBQUERY(saved, $s, $s.category.articles.@count > 4).@count > 0", ["-savedCount"])
  }

  private mutating func watch(_ entity: String, _ predicate: String, _ keys: [String] = ["name"], limit: Int = 0) throws
  {
    let sort = keys.map { key in
      key.hasPrefix("-") ? FetchSortDescriptor(String(key.dropFirst()), ascending: false) : FetchSortDescriptor(key)
    }
    let request = FetchRequest<ManagedObject>(
      entityName: entity, predicate: try FetchPredicate(format: predicate),
      sortDescriptors: sort + [FetchSortDescriptor("objectID")], fetchLimit: limit)
    let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: here)
    try controller.performFetch()
    let list = ListView(controller)
    controller.delegate = list
    watched.append((controller, list))
  }

  // MARK: Changes

  mutating func step() throws -> String {
    let isHere = Bool.random(using: &random)
    let context = isHere ? here : there
    let operation = try change(context)
    if isHere {
      here.processPendingChanges()
    } else if let save = try saveOrRollBack(there) {
      here.mergeChanges(fromContextDidSave: save)
    }
    return (isHere ? "here: " : "there: ") + operation
  }

  private mutating func change(_ context: ManagedObjectContext) throws -> String {
    switch Int.random(in: 0..<30, using: &random) {
    case 0..<4:
      try insertArticle(context)
      return "insert"
    case 4..<8:
      try any("Article", context)?.setValue(name(), forKey: "name")
      return "rename"
    case 8..<11:
      try any("Article", context)?.setValue(.int(.random(in: 0..<7, using: &random)), forKey: "views")
      return "views"
    case 11..<14:
      try any("Article", context)?.setValue(reference("Category", context), forKey: "category")
      return "move"
    case 14..<17:
      try toggle("tags", of: "Article", "Tag", context)
      return "tag"
    case 17..<19:
      try toggle("saved", of: "Reader", "Article", context)
      return "reader"
    case 19..<21:
      if let article = try any("Article", context) { context.delete(article) }
      return "delete an article"
    case 21:
      let entity = ["Category", "Tag"].randomElement(using: &random) ?? "Tag"
      if let object = try any(entity, context) { context.delete(object) }
      try context.insert(entity).setValue(name(), forKey: "name")
      return "replace a \(entity)"
    case 22:
      let entity = ["Category", "Tag", "Country"].randomElement(using: &random) ?? "Tag"
      try any(entity, context)?.setValue(name(), forKey: "name")
      return "rename a \(entity)"
    case 23:
      try any("Category", context)?.setValue(reference("Country", context), forKey: "country")
      return "put a category into a country"
    case 24..<26:
      if context == here, let save = try saveOrRollBack(here) { there.mergeChanges(fromContextDidSave: save) }
      return "save"
    case 26:
      if context == here { here.rollback() }
      return "roll back"
    case 27:
      if let article = try any("Article", context) {
        context.refresh(article, mergeChanges: Bool.random(using: &random))
      }
      return "refresh"
    case 28:
      context.refreshAllObjects()
      return "refresh all"
    default:
      for _ in 0..<5 { try any("Article", context)?.setValue(reference("Category", context), forKey: "category") }
      for _ in 0..<5 { try insertArticle(context) }
      for _ in 0..<5 { if let article = try any("Article", context) { context.delete(article) } }
      return "many"
    }
  }

  private mutating func insertArticle(_ context: ManagedObjectContext) throws {
    let article = try context.insert("Article")
    try article.setValue(name(), forKey: "name")
    try article.setValue(.int(.random(in: 0..<7, using: &random)), forKey: "views")
    try article.setValue(reference("Category", context), forKey: "category")
    if case .object(let tag) = try reference("Tag", context) { try article.setValue(.objects([tag]), forKey: "tags") }
  }

  private mutating func toggle(
    _ key: String, of entity: String, _ destination: String, _ context: ManagedObjectContext
  ) throws {
    guard let object = try any(entity, context), case .object(let id) = try reference(destination, context) else {
      return
    }
    var held = Set(object.objectIDs(forRelationshipNamed: key))
    if held.remove(id) == nil { held.insert(id) }
    try object.setValue(.objects(held), forKey: key)
  }

  private func saveOrRollBack(_ context: ManagedObjectContext) throws -> ContextSave? {
    do {
      return try context.saveAndTell()
    } catch ManagedObjectError.mergeConflicts {
      context.rollback()
      return nil
    }
  }

  private mutating func name() -> Value { .string(Self.names.randomElement(using: &random) ?? "") }

  private mutating func reference(_ entity: String, _ context: ManagedObjectContext) throws -> Value {
    try any(entity, context).map { .object($0.objectID) } ?? .null
  }

  private mutating func any(_ entity: String, _ context: ManagedObjectContext) throws -> ManagedObject? {
    if context == here, looksAside {
      let shown = watched.filter { $0.controller.fetchRequest.entityName == entity }
      return shown.randomElement(using: &random)?.controller.fetchedObjects?.randomElement(using: &random)
    }
    return try all(entity, context).randomElement(using: &random)
  }

  private func all(_ entity: String, _ context: ManagedObjectContext) throws -> [ManagedObject] {
    try context.fetch(FetchRequest(entityName: entity, sortDescriptors: [FetchSortDescriptor("objectID")]))
  }

  // MARK: What must hold

  func check(_ comment: String) throws {
    for (index, watched) in watched.enumerated() {
      let controller = watched.controller
      let comment = Comment(rawValue: "controller \(index), \(comment)")
      try #require(watched.list.rows == controller.sections?.map(\.objects), comment)
      let shown = controller.fetchedObjects ?? []
      if looksAside {
        guard !here.hasChanges else { continue }
        let fresh = try stack.context().fetch(controller.fetchRequest)
        try #require(shown.map(\.objectID) == fresh.map(\.objectID), comment)
      } else {
        let request = controller.fetchRequest
        let entity = try #require(here.model.entitiesByName[request.entityName])
        let predicate = try request.predicate?.resolved(in: entity)
        let sort = try request.sortDescriptors.map { try $0.resolved(in: entity) }
        let found = try all(request.entityName, here).filter { predicate?.evaluate(on: $0) ?? true }
          .sorted { sort.areInIncreasingOrder($0, $1) }
        try #require(shown == (request.fetchLimit > 0 ? Array(found.prefix(request.fetchLimit)) : found), comment)
      }
    }
  }
}

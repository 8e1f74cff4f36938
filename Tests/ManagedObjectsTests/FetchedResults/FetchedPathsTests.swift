import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

/// Predicates over several relationships, or over sets: a change at the far end brings objects that aren't registered.
@Suite("Fetched results controllers and what lies far away")
struct FetchedPathsTests {
  /// An article in a category, a country without a name, and a tag without articles; made by another context.
  private func stack(_ kind: StoreKind) throws -> (CompanyStack, there: ManagedObjectContext) {
    let stack = try CompanyStack(kind, model: NewsModel.model)
    let there = stack.context("there")
    let category = try there.insert("Category")
    try there.insert("Article").setValue(.object(category.objectID), forKey: "category")
    _ = try there.insert("Country")
    _ = try there.insert("Tag")
    try there.save()
    return (stack, there)
  }

  private func the(_ entity: String, _ context: ManagedObjectContext) throws -> ManagedObject {
    try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: entity)).first)
  }

  private func controller(
    _ entity: String, _ predicate: String, _ context: ManagedObjectContext
  ) throws -> FetchedResultsController<ManagedObject> {
    let request = FetchRequest<ManagedObject>(
      entityName: entity, predicate: try FetchPredicate(format: predicate),
      sortDescriptors: [FetchSortDescriptor("objectID")])
    let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
    try controller.performFetch()
    return controller
  }

  @Test("a link on the way that isn't saved is gone along", arguments: StoreKind.allCases)
  func unsavedLink(_ kind: StoreKind) throws {
    let here = try stack(kind).0.context("here")
    let articles = try controller("Article", "category.country.name == 'Chad'", here)
    let country = try the("Country", here)
    try the("Category", here).setValue(.object(country.objectID), forKey: "country")
    here.processPendingChanges()
    #expect(articles.fetchedObjects == [])
    try country.setValue(.string("Chad"), forKey: "name")
    here.processPendingChanges()
    #expect(articles.fetchedObjects?.count == 1)
    here.rollback()
    #expect(articles.fetchedObjects == [])
  }

  @Test("so is one into a set", arguments: StoreKind.allCases)
  func unsavedMember(_ kind: StoreKind) throws {
    let here = try stack(kind).0.context("here")
    let categories = try controller("Category", "ANY articles.tags.name == 'new'", here)
    let (article, tag) = (try the("Article", here), try the("Tag", here))
    try article.setValue(.objects([tag.objectID]), forKey: "tags")
    here.processPendingChanges()
    #expect(categories.fetchedObjects == [])
    try tag.setValue(.string("new"), forKey: "name")
    here.processPendingChanges()
    #expect(categories.fetchedObjects?.count == 1)
    here.rollback()
    #expect(categories.fetchedObjects == [])
  }

  @Test("merges are traced back to unread sets", arguments: StoreKind.allCases)
  func merges(_ kind: StoreKind) throws {
    let (stack, there) = try stack(kind)
    let here = stack.context("here")
    let full = try controller("Category", "articles.@count > 1", here)
    let named = try controller("Category", "ANY articles.name == 'x'", here)
    let category = try the("Category", there)
    func save() throws { here.mergeChanges(fromContextDidSave: try #require(try there.saveAndTell())) }
    let second = try there.insert("Article")
    try second.setValue(.object(category.objectID), forKey: "category")
    try save()
    #expect(full.fetchedObjects?.map(\.objectID) == [category.objectID] && named.fetchedObjects == [])
    try second.setValue(.string("x"), forKey: "name")
    try save()
    #expect(named.fetchedObjects?.count == 1)
    try second.setValue(.null, forKey: "category")
    try save()
    #expect(full.fetchedObjects == [] && named.fetchedObjects == [])
    try second.setValue(.object(category.objectID), forKey: "category")
    try save()
    there.delete(second)
    try save()
    #expect(full.fetchedObjects == [] && named.fetchedObjects == [])
  }

  @Test(
    "a save of the context itself reports derived attributes of unregistered objects", arguments: StoreKind.allCases)
  func derived(_ kind: StoreKind) throws {
    let (stack, there) = try stack(kind)
    let here = stack.context("here")
    let category = try the("Category", there).objectID
    let full = try controller("Category", "articlesCount > 1", here)
    let inFull = try controller("Article", "category.articlesCount > 1", here)
    try here.insert("Article").setValue(.object(category), forKey: "category")
    try here.save()
    #expect(full.fetchedObjects?.map(\.objectID) == [category])
    #expect(inFull.fetchedObjects?.count == 2)
  }
}

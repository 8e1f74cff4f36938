import Foundation
import ManagedObjects
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

@Suite("Files of Core Data in place", .enabled(if: CoreDataFiles.areThere))
struct CoreDataSharedFilesTests {
  /// A copy of a file, and a coordinator over it.
  private struct Copy {
    let folder: ScratchDirectory
    let file: URL
    let model: ManagedObjectModel
    let coordinator: PersistentStoreCoordinator

    init(of name: String) throws {
      folder = try ScratchDirectory()
      file = folder.file("App.sqlite")
      try CoreDataFiles.data(name).write(to: file)
      model = try ManagedObjectModel(ofCoreDataStoreAt: file)
      coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addPersistentStore(.coreData(at: file))
    }

    func context() -> ManagedObjectContext { ManagedObjectContext(.confinement, coordinator: coordinator) }
    var files: CoreDataBookkeeping { get throws { try CoreDataBookkeeping(file) } }
  }

  @Test(
    "every object is read, changed and deleted, and the bookkeeping stays right",
    arguments: [
      "SampleModel/SampleModel_V1.sqlite", "SampleModel/SampleModel_V2.sqlite", "SampleModel2/SampleModel2_V1.sqlite",
      "SampleModel2/SampleModel2_V2.sqlite", "SampleModel3/SampleModel3_V1.sqlite",
    ])
  func roundTrip(_ name: String) throws {
    let copy = try Copy(of: name)
    let (files, context) = (try copy.files, copy.context())
    let frame = try files.frame()
    #expect(try files.problems(copy.model) == [])
    for entity in copy.model.entities where entity.superentity == nil {
      let request = FetchRequest<ManagedObject>(entityName: entity.name)
      let objects = try context.fetch(request)
      #expect(try files.rows("SELECT count(*) FROM Z\(entity.name.uppercased())") == ["\(objects.count)"])
      for object in objects.prefix(3) {
        for attribute in object.entity.attributes where attribute.type == .date && !attribute.isTransient {
          try object.setValue(.date(Date(timeIntervalSinceReferenceDate: 1000)), forKey: attribute.name)
        }
      }
      if objects.count > 3, let last = objects.last { context.delete(last) }
    }
    try context.save()
    #expect(try files.problems(copy.model) == [])
    #expect(try files.frame() == frame)
  }

  @Test("a derived count follows a new object by the file's own triggers, and history records the save")
  func triggers() throws {
    let copy = try Copy(of: "SampleModel2/SampleModel2_V2.sqlite")
    let (files, context) = (try copy.files, copy.context())
    context.transactionAuthor = "server"
    let last = try files.rows("SELECT max(Z_PK) FROM ACHANGE")[0]
    let request = FetchRequest<ManagedObject>(
      entityName: "Book", predicate: try FetchPredicate(format: "title BEGINSWITH 'title graphic'"))
    let book = try #require(try context.fetch(request).first)
    #expect(book.entity.name == "GraphicNovel")
    #expect(book.value(forKey: "pagesCount") == .int(19))
    let page = try context.insert("Page")
    try page.setValue(.int(20), forKey: "number")
    let other = try #require(try context.fetch(FetchRequest<ManagedObject>(entityName: "Page", fetchLimit: 1)).first)
    try page.setValue(other.value(forKey: "content") ?? .null, forKey: "content")
    try page.setValue(.object(book.objectID), forKey: "book")
    try context.save()
    #expect(book.value(forKey: "pagesCount") == .int(20))
    #expect(try files.rows("SELECT Z_PK, Z_ENT, Z_OPT, ZBOOK, Z1_BOOK FROM ZPAGE WHERE Z_PK > 119") == ["120|4|1|3|2"])
    #expect(try files.rows("SELECT Z_OPT, ZPAGESCOUNT FROM ZBOOK WHERE Z_PK = 3") == ["2|20"])
    // Of the book's stored properties, sorted by name, `pages` has changed.
    let book2 = book.entity.properties.filter { !$0.isTransient }.map(\.name).sorted()
    let place = try #require(book2.firstIndex(of: "pages"))
    var bits = [UInt8](repeating: 0, count: (book2.count + 7) / 8)
    bits[place / 8] = 0x80 >> UInt8(place % 8)
    #expect(
      try files.rows(
        "SELECT ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID, ZCOLUMNS FROM ACHANGE WHERE Z_PK > \(last) ORDER BY Z_PK"
      )
        == ["1|2|3|2|" + bits.map { String(format: "%02x", $0) }.joined(), "0|4|120|2|NULL"])
    #expect(
      try files.rows(
        "SELECT s.ZNAME FROM ATRANSACTION AS t JOIN ATRANSACTIONSTRING AS s ON s.Z_PK = t.ZAUTHORTS WHERE t.Z_PK = 2")
        == ["server"])
    #expect(try files.problems(copy.model) == [])

    let history = try context.execute(
      PersistentHistoryChangeRequest.fetchHistory(after: nil as PersistentHistoryToken?))
    let transactions = history.transactions
    #expect(transactions.map(\.transactionNumber) == [1, 2])
    #expect(transactions.last?.author == "server")
    #expect(transactions.last?.changes?.map(\.changeType) == [.update, .insert])
    #expect(transactions.last?.changes?.first?.updatedProperties == ["pages"])
    #expect(transactions.last?.changes?.last?.changedObjectID == page.objectID)
  }

  @Test("a file made from an app's store has its tables and none of its rows")
  func template() throws {
    let folder = try ScratchDirectory()
    let (app, new) = (folder.file("App.sqlite"), folder.file("New.sqlite"))
    try CoreDataFiles.data("SampleModel2/SampleModel2_V2.sqlite").write(to: app)
    let model = try ManagedObjectModel(ofCoreDataStoreAt: app)
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addPersistentStore(.coreData(at: new, options: .init(template: .store(app))))
    let files = try CoreDataBookkeeping(new)
    #expect(try files.problems(model) == [])
    let context = ManagedObjectContext(.confinement, coordinator: coordinator)
    #expect(try context.count(for: FetchRequest<ManagedObject>(entityName: "Book")) == 0)
    let feedback = try context.insert("Feedback")
    for attribute in feedback.entity.attributes where !attribute.isOptional {
      switch attribute.type {
      case .string: try feedback.setValue(.string("x"), forKey: attribute.name)
      case .uuid: try feedback.setValue(.uuid(UUID()), forKey: attribute.name)
      default: try feedback.setValue(.double(1), forKey: attribute.name)
      }
    }
    try context.save()
    #expect(try files.rows("SELECT Z_PK, Z_ENT, Z_OPT FROM ZFEEDBACK") == ["1|3|1"])
    #expect(try files.problems(model) == [])
    // Only the identifier is another one.
    let (one, other) = (Set(try files.frame()), Set(try CoreDataBookkeeping(app).frame()))
    #expect(one.subtracting(other).count == 1)
  }
}

import Foundation
import MagicalRecord
import ManagedObjects
import SQLiteStore
import TestSupport
import Testing

@Suite("Classes generated from a model")
struct GeneratedClassesTests {
  private let directory: ScratchDirectory
  private let coordinator: PersistentStoreCoordinator

  init() throws {
    directory = try ScratchDirectory()
    coordinator = PersistentStoreCoordinator(model: LibraryModel.model)
    try coordinator.addPersistentStore(.sqlite(at: directory.file("library.sqlite")))
  }

  private func context() -> ManagedObjectContext { ManagedObjectContext(.confinement, coordinator: coordinator) }

  @Test("attributes of every type come back from the store as they were set")
  func attributes() throws {
    let writer = context()
    let book = try writer.insert(Book.self)
    let (day, uuid) = (Date(timeIntervalSinceReferenceDate: 86_400), UUID())
    book.title = "Moby-Dick"
    book.class = "fiction"
    book.pages = 635
    book.copies = 3
    book.sold = 3715
    book.weight = 0.5
    book.height = 0.25
    book.inPrint = true
    book.signed = false
    book.price = 12.5
    book.published = day
    book.scanned = 3600
    book.cover = Foundation.Data([1, 2])
    book.isbn = uuid
    book.site = URL(string: "https://example.org/moby")
    book.shelfmark = Shelfmark(room: 2, shelf: "M")
    book.keywords = ["whale", "sea"]
    book.unread = true
    book.anything = .int(7)
    try writer.save()

    let reader = context()
    let read = try #require(try reader.fetch(Book.fetchRequest()).first)
    #expect(read.title == "Moby-Dick" && read.class == "fiction")
    #expect(read.pages == 635 && read.copies == 3 && read.sold == 3715)
    #expect(read.weight == 0.5 && read.height == 0.25 && read.inPrint && read.signed == false)
    #expect(read.price == 12.5 && read.published == day && read.scanned == 3600)
    #expect(read.cover == Foundation.Data([1, 2]) && read.isbn == uuid && read.site?.host == "example.org")
    #expect(read.shelfmark == Shelfmark(room: 2, shelf: "M") && read.keywords == ["whale", "sea"])
    #expect(read.unread == nil && read.anything == nil)
  }

  @Test("numbers and booleans that are plain are 0 and false where there is no value; the others are nil")
  func optionality() throws {
    let book = try context().insert(Book.self)
    #expect(book.pages == 0 && book.sold == 0 && book.weight == 0 && !book.inPrint && book.scanned == 0)
    #expect(book.copies == nil && book.height == nil && book.signed == nil && book.title == nil)
    #expect(book.shelfmark == nil && book.author == nil && book.tags.isEmpty)
  }

  @Test("a composite attribute is a struct, which stands in the slots of its elements")
  func composites() throws {
    let context = context()
    let melville = try context.insert(Author.self)
    #expect(melville.address == nil)
    let address = Address(
      street: "Pearl Street 6", position: Position(latitude: 40.7, longitude: -74),
      in: Date(timeIntervalSinceReferenceDate: 0))
    melville.address = address
    #expect(melville.address == address && melville.work == nil)
    #expect(melville.value(forKey: "address.position.longitude") == .double(-74))
    melville.address?.position?.latitude = 41
    melville.address?.street = nil
    melville.work = Address(street: "Custom House")
    melville.value = 1
    try context.save()
    let reader = self.context()
    let read = try #require(try reader.fetch(Author.fetchRequest()).first)
    #expect(read.address == Address(position: Position(latitude: 41, longitude: -74), in: address.in))
    #expect(read.work == Address(street: "Custom House") && read.value == 1)
    read.address = nil
    #expect(read.address == nil && read.value(forKey: "address") == .null && read.work != nil)
  }

  @Test("relationships keep both ends, through properties and the methods that Xcode names")
  func relationships() throws {
    let context = context()
    let (book, atlas) = (try context.insert(Book.self), try context.insert(Atlas.self))
    let (melville, conrad) = (try context.insert(Author.self), try context.insert(Author.self))
    book.author = melville
    #expect(melville.books == [book])
    melville.addToBooks(atlas)
    #expect(atlas.author === melville)
    melville.removeFromBooks([book, atlas])
    #expect(melville.books.isEmpty && book.author == nil)
    melville.books = [atlas]
    #expect(atlas.author === melville)
    conrad.addToIdols([melville])
    #expect(melville.admirers == [conrad])
    conrad.removeFromIdols(melville)
    #expect(melville.admirers.isEmpty)
    let note = try context.insert(Note.self)
    book.summary = note
    #expect(note.book === book)
  }

  @Test("an ordered relationship is changed at places, by the methods that Xcode names")
  func ordered() throws {
    let context = context()
    let book = try context.insert(Book.self)
    let chapters = try "abcde".map { letter in
      let chapter = try context.insert(Chapter.self)
      chapter.heading = String(letter)
      return chapter
    }
    func headings() -> String { book.chapters.map { $0.heading ?? "" }.joined() }
    book.chapters = OrderedSet(chapters.prefix(2))
    book.addToChapters(chapters[2])
    #expect(headings() == "abc" && chapters[2].book === book)
    book.insertIntoChapters(chapters[3], at: 0)
    #expect(headings() == "dabc")
    book.removeFromChapters(at: 1)
    book.replaceChapters(at: 0, with: chapters[4])
    #expect(headings() == "ebc")
    book.insertIntoChapters([chapters[0], chapters[3]], at: [0, 2])
    #expect(headings() == "aedbc")
    book.removeFromChapters(at: [0, 2])
    book.replaceChapters(at: [0, 1], with: [chapters[0], chapters[3]])
    #expect(headings() == "adc")
    book.removeFromChapters(book.chapters)
    #expect(book.chapters.isEmpty)
    book.title = "Emma"
    book.addToChapters(OrderedSet([chapters[1], chapters[0]]))
    try context.save()
    let reader = self.context()
    #expect(try reader.fetch(Book.fetchRequest()).first?.chapters.map(\.heading) == ["b", "a"])
  }

  @Test("a fetched property gives objects of its class")
  func fetched() throws {
    let context = context()
    let names = ["Dumas", "Dumas", "Verne"]
    let people = try names.map { name in
      let person = try context.insert(Author.self)
      person.name = name
      return person
    }
    #expect(people[0].namesakes == [people[1]] && people[2].namesakes.isEmpty)
  }

  @Test("classes inherit as the entities do, and each fetches its own kind")
  func inheritance() throws {
    let context = context()
    let atlas = Atlas(context: context)
    #expect(atlas.entity.name == "Atlas" && atlas.isInserted)
    atlas.title = "Times"
    atlas.pages = 200
    atlas.scale = 1_000_000
    Book(context: context).title = "Emma"
    let tag = try context.insert("Tag")
    atlas.addToTags(tag)
    try context.save()
    let media = Medium.fetchRequest()
    #expect(try context.fetch(media).count == 2)
    #expect(try context.fetch(Book.fetchRequest()).count == 2)
    let found = try context.fetch(Atlas.fetchRequest())
    #expect(found.map(\.scale) == [1_000_000] && found.first?.tags == [tag])
    #expect(throws: ManagedObjectError.abstractEntity(name: "Medium")) { try context.insert(Medium.self) }
  }

  @Test("a class written by hand has generated accessors, and its own members")
  func category() throws {
    let context = context()
    let loan = try context.insert(Loan.self)
    let book = try context.insert(Book.self)
    loan.medium = book
    loan.renewals = 4
    #expect(loan.isOverdue && book.loans == [loan])
    book.removeFromLoans(loan)
    #expect(loan.medium == nil)
  }

  @Test("key paths of a class written by hand with generated accessors stand in predicates and sort descriptors")
  func categoryKeyPaths() throws {
    let context = context()
    let book = try context.insert(Book.self)
    book.title = "Emma"
    for renewals in [1, 5, 3] as [Int16] {
      let loan = try context.insert(Loan.self)
      loan.renewals = renewals
      if renewals > 1 { loan.medium = book }
    }
    try context.save()
    let predicate = #Predicate<Loan> { $0.medium?.title == "Emma" && $0.renewals > 2 }
    var request = Loan.fetchRequest()
    request.predicate = try FetchPredicate(predicate)
    request.sortDescriptors = [try FetchSortDescriptor(\Loan.renewals, ascending: false)]
    #expect(try context.fetch(request).map(\.renewals) == [5, 3])
    // Over a generated class to one that is written by hand.
    let lent = try FetchPredicate(#Predicate<Book> { $0.loans.contains { $0.renewals == 5 } })
    var books: FetchRequest<Book> = Book.fetchRequest()
    books.predicate = lent
    #expect(try context.fetch(books) == [book])
    #expect(try Loan.maximum(of: \.renewals, in: context) == 5)
  }

  @Test("names that Swift or the base class use elsewhere are names of properties all the same")
  func names() throws {
    let context = context()
    let person = try context.insert(Author.self)
    person.objects = "pen"
    person.value = 3
    #expect(person.objects == "pen" && person.value == 3 && person.books.isEmpty)
    let data = try context.insert(Data.self)
    data.bytes = Foundation.Data([7])
    data.String = "text"
    #expect(data.bytes?.count == 1 && data.String == "text")
  }

  @Test("the model knows its classes, and is refused where they don't fit it")
  func registry() throws {
    #expect(LibraryModel.model.warnings.isEmpty)
    #expect(LibraryModel.classes.count == 8 && LibraryModel.classes["Person"] == Author.self)
    #expect(Atlas.propertyNames?.suffix(2) == ["chapters", "scale"])
    let other = try ManagedObjectModel(
      entities: LibraryModel.model.entities.map { entity in
        var definition = entity.definition
        if entity.name == "Loan" { definition.attributes.reverse() }
        if entity.name == "Data" { definition.attributes[0].type = .string }
        return definition
      }, classes: LibraryModel.classes, layouts: LibraryModel.layouts)
    #expect {
      try PersistentStoreCoordinator(model: other).addPersistentStore(.inMemory())
    } throws: { error in
      guard case ManagedObjectError.classMismatch(let mismatches) = error else { return false }
      return mismatches.count == 2 && mismatches[0].contains("Loan") && mismatches[1].contains("takes bytes for Binary")
    }
  }
}

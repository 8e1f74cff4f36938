import ManagedObjects
import StoreTestSupport
import TestSupport
import Testing

@Suite("Both sides of a relationship are kept")
struct InverseTests {
  /// The stored objects of a test, seen by a context that has read none of their sets.
  private struct Scene {
    let context: ManagedObjectContext
    let acme, mill: Company
    let ada, bob: Person
    let left, right: Desk
    let red, blue: Project

    init(_ stack: CompanyStack) throws {
      let writer = stack.context()
      for name in ["Acme", "Mill"] { try writer.company(name) }
      for name in ["Ada", "Bob"] { try writer.person(name) }
      for label in ["left", "right"] { try writer.insert(Desk.self).label = label }
      for title in ["red", "blue"] { try writer.insert(Project.self).title = title }
      try writer.save()
      context = stack.context()
      acme = try #require(try context.named("Acme", Company.self))
      mill = try #require(try context.named("Mill", Company.self))
      ada = try #require(try context.named("Ada", Person.self))
      bob = try #require(try context.named("Bob", Person.self))
      left = try #require(try context.all(Desk.self, .equal("label", .string("left"))).first)
      right = try #require(try context.all(Desk.self, .equal("label", .string("right"))).first)
      red = try #require(try context.all(Project.self, .equal("title", .string("red"))).first)
      blue = try #require(try context.all(Project.self, .equal("title", .string("blue"))).first)
    }

    func readSets() {
      _ = (
        acme.employees, mill.employees, red.members, blue.members, ada.projects, bob.projects, ada.friends, bob.friends
      )
    }
  }

  @Test("one-to-many, set at the to-one end", arguments: StoreKind.allCases, [true, false])
  func oneToMany(_ kind: StoreKind, readsBefore: Bool) throws {
    let stack = try CompanyStack(kind)
    let scene = try Scene(stack)
    if readsBefore { scene.readSets() }
    scene.ada.employer = scene.acme
    scene.bob.employer = scene.acme
    #expect(scene.acme.employees == [scene.ada, scene.bob])
    scene.ada.employer = scene.mill
    #expect(scene.acme.employees == [scene.bob] && scene.mill.employees == [scene.ada])
    scene.bob.employer = nil
    #expect(scene.acme.employees.isEmpty)
    try scene.context.save()
    #expect(try stack.context().named("Mill", Company.self)?.employees.map(\.name) == ["Ada"])
  }

  @Test("one-to-many, set at the to-many end", arguments: StoreKind.allCases, [true, false])
  func manyToOne(_ kind: StoreKind, readsBefore: Bool) throws {
    let stack = try CompanyStack(kind)
    let scene = try Scene(stack)
    if readsBefore { scene.readSets() }
    scene.acme.employees = [scene.ada, scene.bob]
    #expect(scene.ada.employer == scene.acme && scene.bob.employer == scene.acme)
    scene.mill.employees = [scene.ada]
    #expect(scene.ada.employer == scene.mill && scene.acme.employees == [scene.bob])
    scene.acme.remove(scene.bob, from: 3)
    #expect(scene.bob.employer == nil)
    scene.acme.add(scene.bob, to: 3)
    #expect(scene.bob.employer == scene.acme)
    try scene.context.save()
    let reader = stack.context()
    #expect(try reader.named("Ada", Person.self)?.employer?.name == "Mill")
    #expect(try reader.named("Bob", Person.self)?.employer?.name == "Acme")
  }

  @Test("one-to-one, from either end", arguments: StoreKind.allCases)
  func oneToOne(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let scene = try Scene(stack)
    scene.ada.desk = scene.left
    scene.right.occupant = scene.bob
    #expect(scene.left.occupant == scene.ada && scene.bob.desk == scene.right)
    scene.ada.desk = scene.right
    #expect(scene.right.occupant == scene.ada)
    #expect(scene.left.occupant == nil && scene.bob.desk == nil, "no object is left with half of a pair")
    try scene.context.save()
    let reader = stack.context()
    #expect(try reader.named("Ada", Person.self)?.desk?.label == "right")
    #expect(try reader.named("Bob", Person.self)?.desk == nil)
    let again = try #require(try reader.named("Ada", Person.self))
    again.desk = nil
    try reader.save()
    #expect(try stack.context().all(Desk.self).allSatisfy { $0.occupant == nil })
  }

  @Test("many-to-many, from either end", arguments: StoreKind.allCases, [true, false])
  func manyToMany(_ kind: StoreKind, readsBefore: Bool) throws {
    let stack = try CompanyStack(kind)
    let scene = try Scene(stack)
    if readsBefore { scene.readSets() }
    scene.ada.projects = [scene.red, scene.blue]
    scene.red.add(scene.bob, to: 1)
    #expect(scene.red.members == [scene.ada, scene.bob] && scene.blue.members == [scene.ada])
    scene.ada.projects = [scene.blue]
    #expect(scene.red.members == [scene.bob] && scene.bob.projects == [scene.red])
    try scene.context.save()
    let reader = stack.context()
    #expect(try reader.named("Ada", Person.self)?.projects.map(\.title) == ["blue"])
    #expect(try reader.named("Bob", Person.self)?.projects.map(\.title) == ["red"])
    let red = try #require(try reader.all(Project.self, .equal("title", .string("red"))).first)
    red.members = []
    try reader.save()
    #expect(try stack.context().named("Bob", Person.self)?.projects.isEmpty == true)
  }

  @Test("many-to-many with itself, in both directions", arguments: StoreKind.allCases, [true, false])
  func selfInverse(_ kind: StoreKind, readsBefore: Bool) throws {
    let stack = try CompanyStack(kind)
    let scene = try Scene(stack)
    if readsBefore { scene.readSets() }
    scene.ada.friends = [scene.bob]
    #expect(scene.bob.friends == [scene.ada])
    try scene.context.save()
    for (one, other) in [("Ada", "Bob"), ("Bob", "Ada")] {
      #expect(try stack.context().named(one, Person.self)?.friends.map(\.name) == [other])
    }
    let reader = stack.context()
    try #require(try reader.named("Bob", Person.self)).friends = []
    try reader.save()
    #expect(try stack.context().all(Person.self).allSatisfy { $0.friends.isEmpty })
  }

  @Test("what has no inverse is kept on its own side", arguments: StoreKind.allCases)
  func unidirectional(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let scene = try Scene(stack)
    let (rome, oslo) = (try scene.context.city(39, "Rome"), try scene.context.city(47, "Oslo"))
    scene.ada.birthplace = rome
    scene.ada.visited = [rome, oslo]
    scene.bob.visited = [oslo]
    try scene.context.save()
    let reader = stack.context()
    let ada = try #require(try reader.named("Ada", Person.self))
    #expect(ada.birthplace?.name == "Rome" && Set(ada.visited.map(\.code)) == [39, 47])
    ada.visited = [oslo].compactMap { reader.object(with: $0.objectID) as? City }.reduce(into: []) { $0.insert($1) }
    try reader.save()
    #expect(try stack.context().named("Ada", Person.self)?.visited.map(\.name) == ["Oslo"])
    #expect(try stack.context().named("Bob", Person.self)?.visited.map(\.name) == ["Oslo"])
  }

  @Test("a set that is changed here and there keeps both changes", arguments: StoreKind.allCases)
  func concurrentPairs(_ kind: StoreKind) throws {
    let stack = try CompanyStack(kind)
    let here = try Scene(stack)
    let there = stack.context()
    let red = try #require(there.object(with: here.red.objectID) as? Project)
    #expect(here.red.members.isEmpty && red.members.isEmpty)
    here.red.add(here.ada, to: 1)
    red.add(try #require(try there.named("Bob", Person.self)), to: 1)
    try here.context.save()
    try there.save()
    #expect(try stack.context().all(Project.self, .equal("title", .string("red"))).first?.members.count == 2)
  }

  @Test("adding many objects to a set that has been read doesn't copy the set each time", arguments: StoreKind.allCases)
  func manyAdditions(_ kind: StoreKind) throws {
    let context = try CompanyStack(kind).context()
    let acme = try context.company("Acme")
    for number in 0..<20_000 { try context.person("P\(number)").employer = acme }
    #expect(acme.employees.count == 20_000)
  }
}

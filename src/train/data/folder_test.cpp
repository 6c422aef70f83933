#include "train/data/folder.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/escape.h"
#include "train/data/test_folder.h"

namespace loom {
namespace {

using test::TempFolder;
using Strings = std::vector<std::string>;

Strings names_of(const ClassFiles& found) {
  Strings names;
  for (const ClassFiles::Class& c : found.classes) names.push_back(c.name);
  return names;
}

TEST(Folder, EndingsSayWhatAFileIs) {
  for (const char* name :
       {"a.png", "a.PNG", "a.b.jpg", "a.JPeG", ".x.bmp", "a.gif", "a.pgm", "a.ppm", "a.pnm"})
    EXPECT_EQ(kind_of(name), SampleKind::images) << name;
  for (const char* name : {"a.txt", "A.TXT"}) EXPECT_EQ(kind_of(name), SampleKind::texts) << name;
  for (const char* name : {"", "png", "a.", "a.png.gz", "a.csv", "a.webp", "txt"})
    EXPECT_EQ(kind_of(name), std::nullopt) << name;
}

TEST(Folder, ClassesAndFilesAreInTheOrderOfTheirBytes) {
  const TempFolder f;
  for (const char* name : {"b/2.png", "b/10.png", "b/1.PNG", "B/x.jpg", "\xC3\xA9t\xC3\xA9/a b.ppm",
                           "a c/y.bmp", ".hidden/z.png", "b/.z.png"})
    f.write(name);
  const auto found = read_classes(f.path());
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  ASSERT_TRUE(*found);
  EXPECT_EQ((*found)->kind, SampleKind::images);
  EXPECT_EQ(names_of(**found), (Strings{"B", "a c", "b", "\xC3\xA9t\xC3\xA9"}));
  EXPECT_EQ((*found)->classes[2].files, (Strings{f / "b/1.PNG", f / "b/10.png", f / "b/2.png"}));
  EXPECT_EQ((*found)->count(), 6);
  EXPECT_EQ((*found)->decisions, Strings{});
  EXPECT_EQ((*found)->files, Strings{});
}

TEST(Folder, WhatIsLeftOutIsSaid) {
  const TempFolder f;
  for (const char* name : {"a/1.png", "a/Thumbs.db", "a/more/2.png", "b/1.png", "c/notes.md",
                           "README.txt", "loose.png"})
    f.write(name);
  f.make("d");
  const auto found = read_classes(f.path());
  ASSERT_TRUE(found.ok() && *found);
  EXPECT_EQ(names_of(**found), (Strings{"a", "b"}));
  EXPECT_EQ((*found)->files, Strings{f / "loose.png"});
  EXPECT_EQ((*found)->decisions,
            (Strings{"left out: 1 file in 'a', by the name no image: 'Thumbs.db'",
                     "left out: 1 folder inside the class 'a': 'more'",
                     "left out: 2 folders with no image in it: 'c', 'd'",
                     "left out: 1 file beside the classes, by the name no image: 'README.txt'"}));
}

TEST(Folder, TheKindIsThatOfMoreFiles) {
  const TempFolder f;
  for (const char* name :
       {"a/1.txt", "a/2.txt", "b/1.txt", "b/1.png", "1.png", "2.png", "3.png", "4.png"})
    f.write(name);
  auto found = read_classes(f.path());
  ASSERT_TRUE(found.ok() && *found);
  EXPECT_EQ((*found)->kind, SampleKind::texts);
  EXPECT_EQ((*found)->count(), 3);
  found = read_classes(f.path(), SampleKind::images);
  ASSERT_TRUE(found.ok() && *found);
  EXPECT_EQ((*found)->count(), 1);
  EXPECT_EQ((*found)->files.size(), 4u);
  // As many images as texts beside them: captions.
  const TempFolder g;
  for (const char* name : {"a/1.txt", "a/1.png", "b/1.txt", "b/1.png"}) g.write(name);
  found = read_classes(g.path());
  ASSERT_TRUE(found.ok() && *found);
  EXPECT_EQ((*found)->kind, SampleKind::images);
}

TEST(Folder, NothingOfEitherKind) {
  const TempFolder f;
  EXPECT_FALSE(*read_classes(f.path()));
  f.write("a/1.csv");
  EXPECT_FALSE(*read_classes(f.path()));
  f.write("1.txt");
  const auto flat = read_classes(f.path());
  ASSERT_TRUE(flat.ok() && *flat);
  EXPECT_TRUE((*flat)->classes.empty());
  EXPECT_EQ((*flat)->files, Strings{f / "1.txt"});
  EXPECT_FALSE(*read_classes(f.path(), SampleKind::images));
}

TEST(Folder, TrainAndTest) {
  const TempFolder f;
  const auto parts = [&] {
    auto p = parts_of(f.path());
    EXPECT_TRUE(p.ok());
    return *p;
  };
  f.write("val/a/1.png");
  EXPECT_EQ(parts().learned, f.path());
  f.write("train/a/1.png");
  EXPECT_EQ(parts().learned, f / "train");
  EXPECT_EQ(parts().test, f / "val");
  EXPECT_EQ(parts().decisions, Strings{});
  f.write("Test/a/1.png");
  f.write("labels.csv");
  EXPECT_EQ(parts().test, f / "Test");
  EXPECT_EQ(parts().decisions, (Strings{"left out: 1 folder beside 'train': 'val'",
                                        "left out: 1 file beside 'train': 'labels.csv'"}));
  // A class that is called so: it holds files.
  f.write("train/1.png");
  EXPECT_EQ(parts().learned, f.path());
}

TEST(Folder, WaysThatLeadNowhereAreErrors) {
  const TempFolder f;
  EXPECT_EQ(read_classes(f / "none").status().code(), Code::not_found);
  f.write("file");
  EXPECT_EQ(read_classes(f / "file").status().code(), Code::io);
  f.write("a/1.png");
  f.link("gone.png", "a/2.png");
  auto found = read_classes(f.path());
  EXPECT_EQ(found.status().code(), Code::not_found);
  EXPECT_NE(found.status().message().find(f / "a/2.png"), std::string::npos)
      << found.status().to_string();
  const TempFolder circle;
  circle.write("a/1.png");
  circle.link("2.png", "a/3.png");
  circle.link("3.png", "a/2.png");
  found = read_classes(circle.path());
  EXPECT_EQ(found.status().code(), Code::io);
  EXPECT_NE(found.status().message().find(circle / "a/2.png"), std::string::npos)
      << found.status().to_string();
}

// A link to the folder above is a folder like others, and nothing goes deeper.
TEST(Folder, LinksUpwardsEnd) {
  const TempFolder f;
  for (const char* name : {"a/1.png", "b/1.png"}) f.write(name);
  f.link("..", "a/up");
  f.link(".", "self");
  const auto found = read_classes(f.path());
  ASSERT_TRUE(found.ok() && *found) << found.status().to_string();
  EXPECT_EQ(names_of(**found), (Strings{"a", "b"}));
  EXPECT_EQ((*found)->count(), 2);
  EXPECT_EQ((*found)->decisions.size(), 2u);
}

TEST(Folder, NamesOfClassesAreUtf8) {
  const TempFolder f;
  for (const char* name : {"a/1.png", "\xE9t\xE9/1.png"}) f.write(name);
  const auto found = read_classes(f.path());
  EXPECT_EQ(found.status().code(), Code::invalid_argument);
  EXPECT_NE(found.status().message().find("'\\xe9t\\xe9': the name of a class must be UTF-8"),
            std::string::npos)
      << found.status().to_string();
}

}  // namespace
}  // namespace loom

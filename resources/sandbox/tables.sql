-- SPDX-License-Identifier: Apache-2.0
-- Something to lock: what the examples of the manual and the demo call by name.
CREATE DATABASE shop;
CREATE TABLE shop.shedlock (name VARCHAR(64) NOT NULL PRIMARY KEY, lock_until TIMESTAMP(3) NOT NULL, locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), locked_by VARCHAR(255) NOT NULL) ENGINE=InnoDB;
CREATE TABLE shop.lock_marks (name VARCHAR(64) NOT NULL PRIMARY KEY, owner VARCHAR(64) NOT NULL, created_at DATETIME(3) NOT NULL) ENGINE=InnoDB;
CREATE TABLE shop.lock_flags (id INT NOT NULL PRIMARY KEY, version BIGINT NOT NULL, status INT NOT NULL) ENGINE=InnoDB;
INSERT INTO shop.lock_flags VALUES (1, 0, 0);
CREATE TABLE shop.stock (id INT NOT NULL PRIMARY KEY, name VARCHAR(40) NOT NULL, quantity INT NOT NULL, version INT NOT NULL DEFAULT 1) ENGINE=InnoDB;
INSERT INTO shop.stock (id, name, quantity) VALUES (1, 'kettle', 40), (2, 'teapot', 12), (3, 'cup', 300), (4, 'saucer', 280);

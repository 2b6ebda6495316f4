from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.system_database_dto import SystemDatabaseDto
    from ..models.system_gateway_dto import SystemGatewayDto
    from ..models.system_queue_dto import SystemQueueDto
    from ..models.system_retention_dto import SystemRetentionDto
    from ..models.system_schema_dto import SystemSchemaDto
    from ..models.system_worker_dto import SystemWorkerDto


T = TypeVar("T", bound="SystemDto")


@_attrs_define
class SystemDto:
    """
    Attributes:
        database (None | SystemDatabaseDto):
        gateways (list[SystemGatewayDto] | None): Oldest first
        node_version (str): Of Node, which it runs on Example: 20.20.2.
        queue (None | SystemQueueDto):
        retention_days (SystemRetentionDto):
        schema (None | SystemSchemaDto): Null but for the operator tenant, as what follows
        started_at (datetime.datetime): When it started
        version (str): Of the api that answers Example: 0.1.0.
        workers (list[SystemWorkerDto] | None): Oldest first
    """

    database: None | SystemDatabaseDto
    gateways: list[SystemGatewayDto] | None
    node_version: str
    queue: None | SystemQueueDto
    retention_days: SystemRetentionDto
    schema: None | SystemSchemaDto
    started_at: datetime.datetime
    version: str
    workers: list[SystemWorkerDto] | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.system_database_dto import SystemDatabaseDto
        from ..models.system_queue_dto import SystemQueueDto
        from ..models.system_schema_dto import SystemSchemaDto

        database: dict[str, Any] | None
        if isinstance(self.database, SystemDatabaseDto):
            database = self.database.to_dict()
        else:
            database = self.database

        gateways: list[dict[str, Any]] | None
        if isinstance(self.gateways, list):
            gateways = []
            for gateways_type_0_item_data in self.gateways:
                gateways_type_0_item = gateways_type_0_item_data.to_dict()
                gateways.append(gateways_type_0_item)

        else:
            gateways = self.gateways

        node_version = self.node_version

        queue: dict[str, Any] | None
        if isinstance(self.queue, SystemQueueDto):
            queue = self.queue.to_dict()
        else:
            queue = self.queue

        retention_days = self.retention_days.to_dict()

        schema: dict[str, Any] | None
        if isinstance(self.schema, SystemSchemaDto):
            schema = self.schema.to_dict()
        else:
            schema = self.schema

        started_at = self.started_at.isoformat()

        version = self.version

        workers: list[dict[str, Any]] | None
        if isinstance(self.workers, list):
            workers = []
            for workers_type_0_item_data in self.workers:
                workers_type_0_item = workers_type_0_item_data.to_dict()
                workers.append(workers_type_0_item)

        else:
            workers = self.workers

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "database": database,
                "gateways": gateways,
                "node_version": node_version,
                "queue": queue,
                "retention_days": retention_days,
                "schema": schema,
                "started_at": started_at,
                "version": version,
                "workers": workers,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.system_database_dto import SystemDatabaseDto
        from ..models.system_gateway_dto import SystemGatewayDto
        from ..models.system_queue_dto import SystemQueueDto
        from ..models.system_retention_dto import SystemRetentionDto
        from ..models.system_schema_dto import SystemSchemaDto
        from ..models.system_worker_dto import SystemWorkerDto

        d = dict(src_dict)

        def _parse_database(data: object) -> None | SystemDatabaseDto:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                database_type_0 = SystemDatabaseDto.from_dict(data)

                return database_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SystemDatabaseDto, data)

        database = _parse_database(d.pop("database"))

        def _parse_gateways(data: object) -> list[SystemGatewayDto] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                gateways_type_0 = []
                _gateways_type_0 = data
                for gateways_type_0_item_data in _gateways_type_0:
                    gateways_type_0_item = SystemGatewayDto.from_dict(gateways_type_0_item_data)

                    gateways_type_0.append(gateways_type_0_item)

                return gateways_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[SystemGatewayDto] | None, data)

        gateways = _parse_gateways(d.pop("gateways"))

        node_version = d.pop("node_version")

        def _parse_queue(data: object) -> None | SystemQueueDto:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                queue_type_0 = SystemQueueDto.from_dict(data)

                return queue_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SystemQueueDto, data)

        queue = _parse_queue(d.pop("queue"))

        retention_days = SystemRetentionDto.from_dict(d.pop("retention_days"))

        def _parse_schema(data: object) -> None | SystemSchemaDto:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                schema_type_0 = SystemSchemaDto.from_dict(data)

                return schema_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SystemSchemaDto, data)

        schema = _parse_schema(d.pop("schema"))

        started_at = datetime.datetime.fromisoformat(d.pop("started_at"))

        version = d.pop("version")

        def _parse_workers(data: object) -> list[SystemWorkerDto] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                workers_type_0 = []
                _workers_type_0 = data
                for workers_type_0_item_data in _workers_type_0:
                    workers_type_0_item = SystemWorkerDto.from_dict(workers_type_0_item_data)

                    workers_type_0.append(workers_type_0_item)

                return workers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[SystemWorkerDto] | None, data)

        workers = _parse_workers(d.pop("workers"))

        system_dto = cls(
            database=database,
            gateways=gateways,
            node_version=node_version,
            queue=queue,
            retention_days=retention_days,
            schema=schema,
            started_at=started_at,
            version=version,
            workers=workers,
        )

        system_dto.additional_properties = d
        return system_dto

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
